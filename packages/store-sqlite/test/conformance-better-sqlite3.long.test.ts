import { describeStore } from '@holdfast/conformance'
import { sqliteTarget } from './sqlite-target.ts'

describeStore(
  'better-sqlite3, writing on a thread of its own',
  sqliteTarget({ driver: 'better-sqlite3', worker: true }),
)
