import { describeStore } from '@holdfast/conformance'
import { sqliteTarget } from './sqlite-target.ts'

describeStore('sqlite, writing in the same thread', sqliteTarget({ worker: false }))
