import assert from 'node:assert/strict'
import { seen } from '#readme/chat-protocol'

assert.deepEqual(seen, ['7 text-delta false'])
