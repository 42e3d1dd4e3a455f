import { describeStore } from '@holdfast/conformance'
import { sqliteTarget } from './sqlite-target.ts'

describeStore('sqlite, writing on a thread of its own', sqliteTarget({ worker: true }))
