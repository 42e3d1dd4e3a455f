import { describeModel } from '@holdfast/conformance'
import { describe } from 'vitest'
import { memoryReference } from './support/memory-reference.ts'
import { postgresTarget, serverUrl } from './support/postgres-target.ts'

describe.skipIf(serverUrl === '')('beside the reference [needs postgres]', () => {
  describeModel(postgresTarget(), memoryReference, 6)
})
