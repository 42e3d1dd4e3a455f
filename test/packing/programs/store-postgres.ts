import assert from 'node:assert/strict'
import { countCall } from '#readme/store-postgres'

// No server is there: the driver is loaded and asked, and the failure is told as ours.
await assert.rejects(countCall('postgres://nobody@127.0.0.1:1/none'), {
  code: 'store_unavailable',
  retryable: true,
})
