import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createSeededRandom } from '@holdfast/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../src/index.ts'
import { runIds, sessionId } from './crash-writer-data.ts'

const script = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))

describe('a process that is killed while it writes', () => {
  let directory = ''
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-crash-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  it('loses nothing it acknowledged and leaves nothing torn, and its successor waits for nothing', async () => {
    const path = join(directory, 'store.db')
    const random = createSeededRandom(7)
    const acknowledged = new Map<string, number>()
    for (let kill = 0; kill < 6; kill += 1) {
      const lines = await writeUntilKilled(path, 40 + random.below(200))
      for (const [runId, revision] of lines) {
        acknowledged.set(runId, Math.max(acknowledged.get(runId) ?? 0, revision))
      }
      const store = await openSqliteStore({ path })
      for (const runId of runIds) {
        const run = await store.run(sessionId, runId)
        const last = (run?.journalNext ?? 1) - 1
        expect(last).toBeGreaterThanOrEqual(acknowledged.get(runId) ?? 0)
        if (run === undefined) continue
        expect(run.head).toEqual(last === 0 ? undefined : { revision: last })
        const chunks = await readStream(store, runId)
        expect(chunks).toEqual(
          Array.from({ length: last }, (_, index) => JSON.stringify({ revision: index + 1 })),
        )
        const [tail] = await store.journal(sessionId, runId, { from: last, limit: 10 })
        expect(JSON.parse(tail?.data ?? '[]')).toMatchObject({ 0: last })
      }
      await store.close()
    }
    expect(acknowledged.size).toBe(runIds.length)
  }, 60_000)
})

async function readStream(
  store: Awaited<ReturnType<typeof openSqliteStore>>,
  runId: string,
): Promise<readonly string[]> {
  const texts: string[] = []
  for (;;) {
    const page = await store.streamPage(sessionId, runId, { from: texts.length, limit: 1_000 })
    if (page === undefined || page.chunks.length === 0) return texts
    texts.push(...page.chunks.map(({ data }) => data))
  }
}

/** Starts a writer, kills it after so many acknowledgements, and answers with all that it gave. */
async function writeUntilKilled(
  path: string,
  count: number,
): Promise<readonly (readonly [runId: string, revision: number])[]> {
  const child = spawn(
    process.execPath,
    ['--conditions=@holdfast/source', '--experimental-strip-types', script, path],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines: (readonly [string, number])[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const [runId = '', revision = ''] = line.split(' ')
    lines.push([runId, Number(revision)])
    if (lines.length === count) child.kill('SIGKILL')
  }
  if (lines.length < count) throw new Error('The writer ended before it was killed.')
  return lines
}
