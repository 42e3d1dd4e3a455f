import assert from 'node:assert/strict'
import { orderDigest } from '#readme/json'

const digest = orderDigest('{"id":"a","count":2}')
assert.match(digest ?? '', /^[0-9a-f]{64}$/)
assert.equal(orderDigest('{ "count": 2.0, "id": "a" }'), digest)
assert.equal(orderDigest('{"id":"a","count":0}'), undefined)
assert.throws(() => orderDigest('{"id":"a","id":"b"}'), { code: 'json_duplicate_key' })
