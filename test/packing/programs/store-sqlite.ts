import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countCall } from '#readme/store-sqlite'

const folder = mkdtempSync(join(tmpdir(), 'store-sqlite-'))
const path = join(folder, 'calls.db')
assert.deepEqual([await countCall(path), await countCall(path), await countCall(path)], [1, 2, 3])
rmSync(folder, { recursive: true })
