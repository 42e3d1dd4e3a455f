import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { proveCrashes } from '../crash/crash-proof.ts'
import type { CrashRecord } from '../crash/evidence.ts'
import { goodRecord } from './good-record.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

async function prove(record: CrashRecord, seeds: readonly number[] = [1]) {
  const printed: string[] = []
  const complaints: string[] = []
  const discarded: string[] = []
  const stands = await proveCrashes({
    kills: record.kills,
    seeds,
    json: true,
    run: async () => {
      const folder = mkdtempSync(join(tmpdir(), 'holdfast-proof-'))
      folders.push(folder)
      return { record, folder, discard: () => discarded.push(folder) }
    },
    print: (line) => printed.push(line),
    complain: (line) => complaints.push(line),
  })
  return { stands, printed, complaints, discarded }
}

describe('the crash proof of a record', () => {
  test('stands for a good one, says only the figures and keeps nothing', async () => {
    const { stands, printed, complaints, discarded } = await prove(goodRecord)
    expect({ stands, complaints }).toEqual({ stands: true, complaints: [] })
    expect(printed.map((line) => Object.keys(JSON.parse(line)))).toEqual([
      [
        'kills',
        'kills_in_flight',
        'chats',
        'runs',
        'approvals',
        'interrupts',
        'resumes',
        'cancels',
        'steered',
        'tool_calls',
        'reconnects',
        'lost_runs',
        'lost_inbox',
        'duplicated_effects',
        'stream_mismatches',
        'seconds',
      ],
    ])
    expect(discarded).toEqual(folders)
  })

  test.each([
    ['lost_runs', { ...goodRecord, effects: [] }],
    [
      'duplicated_effects',
      { ...goodRecord, effects: [...goodRecord.effects, ...goodRecord.effects] },
    ],
    [
      'lost_inbox',
      {
        ...goodRecord,
        inbox: [{ scenario: 'text', kind: 'cancel', runId: 'unknown' }],
      } satisfies CrashRecord,
    ],
    [
      'stream_mismatches',
      {
        ...goodRecord,
        answers: goodRecord.answers.map((answer) => ({ ...answer, text: '1 2 3' })),
      },
    ],
  ])('fails with %s, says why and keeps the evidence', async (figure, record) => {
    const { stands, printed, complaints, discarded } = await prove(record)
    expect(stands).toBe(false)
    expect(JSON.parse(printed[0] ?? '')).toMatchObject({ [figure]: 1 })
    expect(complaints).toHaveLength(2)
    expect(discarded).toEqual([])
    expect(folders.map((folder) => existsSync(join(folder, 'evidence.json')))).toEqual([true])
  })

  test('fails when fewer than half of the kills hit work in flight', async () => {
    expect(await prove({ ...goodRecord, kills: 20, killsInFlight: 9 })).toMatchObject({
      stands: false,
    })
    expect(await prove({ ...goodRecord, kills: 20, killsInFlight: 10 })).toMatchObject({
      stands: true,
    })
  })

  test('fails over ten seeds when a kind is seen too seldom, and prints the sum', async () => {
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    const { stands, printed, complaints } = await prove(goodRecord, seeds)
    expect(stands).toBe(false)
    expect(printed).toHaveLength(11)
    expect(JSON.parse(printed[10] ?? '')).toMatchObject({ kills: 20, runs: 20 })
    expect(complaints).toEqual(['seen fewer than 5 times: approvals, cancels, steered, tool_calls'])
  })
})
