import { describeStore } from '@holdfast/conformance'
import { sqliteTarget } from './sqlite-target.ts'

describeStore(
  'better-sqlite3, writing in the same thread',
  sqliteTarget({ driver: 'better-sqlite3', worker: false }),
)
