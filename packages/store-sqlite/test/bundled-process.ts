// A program that is bundled: it says what became of one commit, opened in each way.
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStoreOptions } from '../src/index.ts'

const sessionId = '0190a1b2-0000-7000-8000-00000000000a'

async function outcome(options: SqliteStoreOptions): Promise<string> {
  try {
    const store = await openSqliteStore(options)
    const put = { kind: 'document-put', collection: 'c', key: 'k', expectedRevision: 0 } as const
    await store.commit({ sessionId, writes: [{ ...put, value: '"kept"' }] })
    const kept = await store.document(sessionId, 'c', 'k')
    await store.close()
    return `${kept?.value}`
  } catch (error) {
    return error instanceof Error && 'code' in error
      ? `${String(error.code)}: ${error.message}`
      : String(error)
  }
}

async function report(path: string): Promise<void> {
  const outcomes = {
    inThread: await outcome({ path: `${path}.1`, worker: false }),
    worker: await outcome({ path: `${path}.2` }),
    betterSqlite3: await outcome({ path: `${path}.3`, worker: false, driver: 'better-sqlite3' }),
  }
  process.stdout.write(JSON.stringify(outcomes))
}

void report(process.argv[2] ?? '')
