import assert from 'node:assert/strict'
import { isUuid } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { assertMove, session } from '#readme/core'

assert.ok(isUuid(session))
const runId = system.runId()
assertMove(runId, 'pending', 'running')
assert.throws(() => assertMove(runId, 'completed', 'running'), { code: 'run_conflict' })
