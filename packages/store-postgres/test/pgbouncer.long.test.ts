import { describeStore } from '@holdfast/conformance'
import { afterAll, describe } from 'vitest'
import { startPgBouncer } from './support/pgbouncer.ts'
import { postgresTarget, serverUrl } from './support/postgres-target.ts'

const bouncer = serverUrl === '' ? undefined : await startPgBouncer(serverUrl)
afterAll(() => bouncer?.stop())

describe.skipIf(bouncer === undefined)(
  'behind PgBouncer in transaction mode [needs pgbouncer]',
  () => {
    describeStore(
      'postgres',
      postgresTarget(() => ({
        connectionString: bouncer?.url ?? '',
        listen: { connectionString: serverUrl },
      })),
    )
  },
)
