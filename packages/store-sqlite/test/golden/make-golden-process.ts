// Makes the golden file of the version that this release writes. Once a version, never again:
//
//   node --conditions=@holdfast/source test/golden/make-golden-process.ts
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createManualSystem } from '@holdfast/testing'
import { openSqliteStore } from '../../src/index.ts'
import { schemaVersion } from '../../src/schema.ts'
import { goldenNow, writeGolden } from './golden-data.ts'
import { readGolden } from './read-golden.ts'

const path = join(import.meta.dirname, `v${schemaVersion}.db`)
if (existsSync(path)) throw new Error(`${path} is there, and stays as it is.`)
const system = createManualSystem({ now: goldenNow })
const store = await openSqliteStore({ path, worker: false, system })
await writeGolden(store)
const reads = await readGolden(store)
await store.close()
rmSync(`${path}.owner`)
writeFileSync(
  join(import.meta.dirname, `v${schemaVersion}.json`),
  `${JSON.stringify(reads, undefined, 2)}\n`,
)
