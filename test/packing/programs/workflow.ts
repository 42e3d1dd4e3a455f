import assert from 'node:assert/strict'
import { catalog } from '#readme/workflow'

const { definition, digest } = catalog.resolve('count_twice', 'v1')
assert.equal(definition.description, 'Adds one, twice.')
assert.match(digest, /^[0-9a-f]{64}$/)
