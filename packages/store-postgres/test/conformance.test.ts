import { describeStore } from '@holdfast/conformance'
import { describe } from 'vitest'
import { postgresTarget, serverUrl } from './support/postgres-target.ts'

describe.skipIf(serverUrl === '')('on a server [needs postgres]', () => {
  describeStore('postgres', postgresTarget())
})
