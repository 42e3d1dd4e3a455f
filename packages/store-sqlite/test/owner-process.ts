import { openSqliteStore } from '../src/index.ts'

const [path = '', mode] = process.argv.slice(2)
const store = await openSqliteStore({ path })
process.stdout.write(`${store.node?.id}\n`)
// Kept alive by this, and not by the store.
if (mode !== 'idle') setInterval(() => undefined, 1_000)
