// A client that does its work and ends: closed, or left to its process.
import { openPostgresStore } from '../src/index.ts'

const [connectionString = '', schema = '', ending = ''] = process.argv.slice(2)
const store = await openPostgresStore({ connectionString, schema, mode: 'client' })
const sessionId = '0190a1b2-0000-7000-8000-00000000000a'
const put = { kind: 'document-put', collection: 'c', key: ending, expectedRevision: 0 } as const
await store.commit({ sessionId, writes: [{ ...put, value: '1' }] })
if (ending === 'closed') await store.close()
