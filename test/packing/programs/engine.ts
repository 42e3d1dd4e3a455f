import assert from 'node:assert/strict'
import { greeting } from '#readme/engine'

assert.equal(greeting, 'hello')
