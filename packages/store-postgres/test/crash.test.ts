import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createSeededRandom } from '@holdfast/testing'
import { describe, expect, it } from 'vitest'
import { openPostgresStore } from '../src/index.ts'
import type { PostgresStore } from '../src/index.ts'
import { runIds, sessionIds } from './crash-writer-data.ts'
import { freshSchema, query, serverUrl } from './support/postgres-target.ts'

const script = fileURLToPath(new URL('./crash-writer.ts', import.meta.url))

describe.skipIf(serverUrl === '')(
  'a process that is killed while it writes [needs postgres]',
  () => {
    it('loses nothing it acknowledged, leaves nothing torn, and its sessions are taken after its lease', async () => {
      const schema = freshSchema()
      const random = createSeededRandom(7)
      const acknowledged = new Map<string, number>()
      for (let kill = 0; kill < 3; kill += 1) {
        const lines = await writeUntilKilled(schema, 40 + random.below(200))
        for (const [runId, revision] of lines) {
          acknowledged.set(runId, Math.max(acknowledged.get(runId) ?? 0, revision))
        }
        // Its lease still stands: nobody else gets its sessions before that has run out.
        const store = await openPostgresStore({ connectionString: serverUrl, schema })
        await expect(store.claimSession(sessionIds[0] ?? '')).rejects.toMatchObject({
          code: 'store_owned',
        })
        await query(
          `update "${schema}".node set lease_until = '-infinity' where id <> '${store.node?.id}'`,
        )
        expect((await store.findWork(0, 10)).toSorted()).toEqual(sessionIds)
        for (const [index, runId] of runIds.entries()) {
          await expectWhole(store, sessionIds[index] ?? '', runId, acknowledged.get(runId) ?? 0)
        }
        await store.close()
      }
      expect(acknowledged.size).toBe(runIds.length)
      await query(`drop schema "${schema}" cascade`)
    }, 60_000)
  },
)

describe.skipIf(serverUrl === '')(
  'an owner that is paused while it writes [needs postgres]',
  () => {
    it('keeps nobody from taking its sessions, and is refused when it goes on', async () => {
      const schema = freshSchema()
      for (let round = 0; round < 3; round += 1) {
        const child = startWriter(schema, 2_000)
        let errors = ''
        child.stderr.on('data', (text: Buffer) => {
          errors += text.toString()
        })
        const exit = once(child, 'exit')
        const lines = createInterface({ input: child.stdout })
        for (let count = 0; count < 20 + round * 7; count += 1) await once(lines, 'line')
        child.kill('SIGSTOP')
        // Nobody renews any more; the test need not wait for the lease's end.
        await query(`update "${schema}".node set lease_until = '-infinity'`)
        const store = await openPostgresStore({ connectionString: serverUrl, schema })
        for (const [index, sessionId] of sessionIds.entries()) {
          const { epoch } = await store.claimSession(sessionId)
          const runId = runIds[index] ?? ''
          const run = await store.run(sessionId, runId)
          if (run === undefined) continue
          const revision = run.journalNext
          await store.commit({
            sessionId,
            fence: { epoch },
            writes: [
              { kind: 'journal-append', runId, revision, data: '[0]', head: { revision } },
              {
                kind: 'stream-append',
                streamId: runId,
                expectedNext: revision - 1,
                chunks: [{ data: JSON.stringify({ revision }) }],
              },
            ],
          })
        }
        child.kill('SIGCONT')
        expect(await exit).toEqual([1, null])
        expect(errors).toContain('store_fenced')
        for (const [index, runId] of runIds.entries()) {
          await expectWhole(store, sessionIds[index] ?? '', runId, 0)
        }
        await store.close()
      }
      await query(`drop schema "${schema}" cascade`)
    }, 60_000)
  },
)

async function expectWhole(
  store: PostgresStore,
  sessionId: string,
  runId: string,
  acknowledged: number,
): Promise<void> {
  const run = await store.run(sessionId, runId)
  const last = (run?.journalNext ?? 1) - 1
  expect(last).toBeGreaterThanOrEqual(acknowledged)
  expect(run?.head).toEqual(last === 0 ? undefined : { revision: last })
  const texts: string[] = []
  for (;;) {
    const page = await store.streamPage(sessionId, runId, { from: texts.length, limit: 1_000 })
    if (page === undefined || page.chunks.length === 0) break
    texts.push(...page.chunks.map(({ data }) => data))
  }
  expect(texts).toEqual(
    Array.from({ length: last }, (_, index) => JSON.stringify({ revision: index + 1 })),
  )
}

function startWriter(schema: string, leaseMs: number) {
  return spawn(
    process.execPath,
    [
      '--conditions=@holdfast/source',
      '--experimental-strip-types',
      script,
      serverUrl,
      schema,
      String(leaseMs),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
}

/** Starts a writer, kills it after so many acknowledgements, and answers with all that it gave. */
async function writeUntilKilled(
  schema: string,
  count: number,
): Promise<readonly (readonly [runId: string, revision: number])[]> {
  const child = startWriter(schema, 10_000)
  child.stderr.pipe(process.stderr)
  const lines: (readonly [string, number])[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const [runId = '', revision = ''] = line.split(' ')
    lines.push([runId, Number(revision)])
    if (lines.length === count) child.kill('SIGKILL')
  }
  if (lines.length < count) throw new Error('The writer ended before it was killed.')
  return lines
}
