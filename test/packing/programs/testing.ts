import assert from 'node:assert/strict'
import { fired } from '#readme/testing'

assert.deepEqual(fired, [60_000])
