// A process that is traced: it says on its output what was acknowledged, the moment it was.
import { writeSync } from 'node:fs'
import type { Commit } from '@holdfast/core'
import { nodeSqlite } from '../src/driver.ts'
import type { SqlDriver } from '../src/driver.ts'
import { openSqliteStore } from '../src/index.ts'
import { openWithDriver } from '../src/sqlite-store.ts'
import { sessionId } from './crash-writer-data.ts'

const [path = '', driver = '', one = '', together = ''] = process.argv.slice(2)
const say = (line: string): void => void writeSync(1, `${line}\n`)

const store =
  driver === 'lying'
    ? await openWithDriver(lying, { path, worker: false })
    : await openSqliteStore({
        path,
        driver: driver === 'better-sqlite3' ? 'better-sqlite3' : 'node',
      })
say('one at a time')
for (let index = 1; index <= Number(one); index += 1) {
  await store.commit(append(`one ${index}`))
  say(`acknowledged ${index}`)
}
say('together')
await Promise.all(
  Array.from({ length: Number(together) }, async (_, index) => {
    await store.commit(append(`together ${index}`))
    say(`acknowledged ${index}`)
  }),
)
say('done')
await store.close()

function append(key: string): Commit {
  return {
    sessionId,
    writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
  }
}

/** A library that says it syncs, and does not: what the test must be able to find. */
function lying(...args: Parameters<SqlDriver>): ReturnType<SqlDriver> {
  const connection = nodeSqlite(...args)
  return {
    ...connection,
    exec: (sql) => connection.exec(sql.replace('synchronous = full', 'synchronous = off')),
    prepare: (sql) =>
      connection.prepare(sql === 'pragma synchronous' ? 'select 2 as synchronous' : sql),
  }
}
