// A process alone with a small file system: it fills it, frees it, and takes it away from itself.
import { execFileSync } from 'node:child_process'
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isHoldfastError } from '@holdfast/core'
import { openSqliteStore } from '../src/index.ts'
import type { SqliteStore, SqliteStoreOptions } from '../src/index.ts'
import { sessionId } from './crash-writer-data.ts'

const [directory = '', name = ''] = process.argv.slice(2)
const options: SqliteStoreOptions = {
  path: join(directory, 'store.db'),
  driver: name === 'better-sqlite3' ? 'better-sqlite3' : 'node',
}
const fillers = [join(directory, 'filler'), join(directory, 'another')] as const
for (const filler of fillers) writeFileSync(filler, Buffer.alloc(384 * 1024, 1))

const store = await openSqliteStore(options)
const acknowledged: string[] = []
const full = await writeUntilRefused(store, 'before')
const readWhileFull = await keysOf(store)
// One at a time and together: a full disk refuses each, and stops nothing.
const together = await Promise.all(
  Array.from({ length: 10 }, (_, index) => write(store, `together ${index}`)),
)
rmSync(fillers[0])
const freed = await writeUntilRefused(store, 'after')
await store.close()

writeFileSync(fillers[0], '')
while (append(fillers[0])) continue
const openedWhileFull = await openingOf(options)
rmSync(fillers[1])
const again = await openSqliteStore(options)
const kept = await keysOf(again)
await again.close()

execFileSync('mount', ['-o', 'remount,ro', directory])
const readOnly = [await openingOf(options), await openingOf({ ...options, mode: 'client' })]
process.stdout.write(
  JSON.stringify({
    acknowledged,
    full,
    readWhileFull,
    together,
    freed,
    openedWhileFull,
    kept,
    readOnly,
  }),
)

async function writeUntilRefused(to: SqliteStore, prefix: string): Promise<string> {
  for (let index = 0; ; index += 1) {
    const key = `${prefix} ${index}`
    const outcome = await write(to, key)
    if (outcome !== 'acknowledged') return outcome
  }
}

async function write(to: SqliteStore, key: string): Promise<string> {
  try {
    const value = JSON.stringify('x'.repeat(20_000))
    await to.commit({
      sessionId,
      writes: [{ kind: 'log-append', log: 'l', key, value, onFailure: 'fail' }],
    })
    acknowledged.push(key)
    return 'acknowledged'
  } catch (error) {
    return isHoldfastError(error) ? error.code : String(error)
  }
}

function append(file: string): boolean {
  try {
    appendFileSync(file, Buffer.alloc(1_024, 1))
    return true
  } catch {
    return false
  }
}

async function keysOf(from: SqliteStore): Promise<readonly string[]> {
  const keys: string[] = []
  for (;;) {
    const { entries, next } = await from.logPage(sessionId, 'l', { from: keys.length, limit: 100 })
    keys.push(...entries.map(({ key }) => key))
    if (keys.length >= next) return keys
  }
}

async function openingOf(how: SqliteStoreOptions): Promise<string> {
  try {
    await (await openSqliteStore(how)).close()
    return 'opened'
  } catch (error) {
    return isHoldfastError(error) ? error.code : String(error)
  }
}
