// Another process that reads a stream as it is written, and says how old each chunk was when it saw it.
import { openPostgresStore } from '@holdfast/store-postgres'

const [connectionString = '', sessionId = '', streamId = '', chunks = '0'] = process.argv.slice(2)
const store = await openPostgresStore({ connectionString, mode: 'client' })
const abort = new AbortController()
const watch = store
  .watch({ kind: 'stream', sessionId, streamId }, abort.signal)
  [Symbol.asyncIterator]()
process.stdout.write('ready\n')
const ages: number[] = []
while (ages.length < Number(chunks)) {
  await watch.next()
  const page = await store.streamPage(sessionId, streamId, { from: ages.length, limit: 1_000 })
  const now = performance.timeOrigin + performance.now()
  for (const { data } of page?.chunks ?? []) ages.push(now - Number(data))
}
abort.abort()
process.stdout.write(`${JSON.stringify(ages)}\n`)
await store.close()
