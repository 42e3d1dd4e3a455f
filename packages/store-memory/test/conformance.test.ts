import { describeStore } from '@holdfast/conformance'
import { memoryTarget } from './memory-target.ts'

describeStore('memory', memoryTarget)
