import assert from 'node:assert/strict'
import { draft } from '#readme/store-memory'

assert.deepEqual(draft, { key: 'letter', revision: 1, value: '"low tide at noon"' })
