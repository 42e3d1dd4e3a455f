// A process on a disk that fails: it goes on, says what became of each commit, and is killed.
import { isHoldfastError } from '@holdfast/core'
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStore } from '../src/index.ts'
import { sessionId } from './crash-writer-data.ts'

const [path = '', driver = '', count = ''] = process.argv.slice(2)
try {
  await writeAll(
    await openSqliteStore({
      path,
      driver: driver === 'better-sqlite3' ? 'better-sqlite3' : 'node',
    }),
  )
} catch (error) {
  say({ refused: isHoldfastError(error) ? error.code : String(error) })
}

async function writeAll(store: SqliteStore): Promise<void> {
  const outcomes: string[] = []
  for (let index = 0; index < Number(count); index += 1) {
    const key = `${index}`
    // Each second one may be repeated, and so has an id.
    outcomes.push(`${key} ${await outcome(store, key, index % 2 === 0 ? { commitId: key } : {})}`)
  }
  const { entries } = await store.logPage(sessionId, 'l', { from: 0, limit: 1_000 })
  say({ outcomes, seen: entries.map(({ key }) => key) })
}

function say(report: unknown): void {
  process.stdout.write(JSON.stringify(report), () => process.kill(process.pid, 'SIGKILL'))
}

async function outcome(
  store: SqliteStore,
  key: string,
  options: { readonly commitId?: string },
): Promise<string> {
  try {
    await store.commit({
      sessionId,
      writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
      ...options,
    })
    return 'acknowledged'
  } catch (error) {
    return isHoldfastError(error) ? error.code : String(error)
  }
}
