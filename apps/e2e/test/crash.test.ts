import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const main = fileURLToPath(new URL('../crash/main.ts', import.meta.url))

interface Outcome {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

async function crash(...args: readonly string[]): Promise<Outcome> {
  return await new Promise((resolve) => {
    const command = ['--conditions=@holdfast/source', main, ...args]
    const child = execFile(process.execPath, command, (_error, output, errors) => {
      resolve({ code: child.exitCode, output, errors })
    })
  })
}

describe('the crash proof', () => {
  test('stands three kills of the real server', { timeout: 120_000 }, async () => {
    const { code, output, errors } = await crash('--kills', '3', '--seed', '7', '--json')
    expect(errors).toBe('')
    expect(JSON.parse(output)).toMatchObject({
      kills: 3,
      lost_runs: 0,
      lost_inbox: 0,
      duplicated_effects: 0,
      stream_mismatches: 0,
    })
    expect(code).toBe(0)
  })

  test('says how it is called when it is called otherwise', async () => {
    for (const args of [
      ['--kills', '-1'],
      ['--seeds', '3..1'],
      ['--seed', '1', '--seeds', '1..2'],
    ]) {
      const { code, output, errors } = await crash(...args)
      expect({ code, output }).toEqual({ code: 2, output: '' })
      expect(errors).toContain('npm run crash --')
    }
  })
})
