// What a journaled entry is to the operation that it names.
import type { JournalEntry, StoredValue } from '@holdfast/workflow'
import { operationOf } from './operation.ts'
import type { Operation } from './operation.ts'

/** Whether a journaled entry can be of this operation. */
export function fits(operation: Operation, entry: JournalEntry): boolean {
  const kind = operationOf(entry.kind)
  if (kind === undefined) return operation.kind === 'sleep' || operation.kind === 'receive'
  if (operation.kind === 'step') return kind === 'step' || kind === 'interrupt'
  return kind === operation.kind
}

/** The value that an entry brings to its operation. */
export function storedValueOf(entry: JournalEntry): StoredValue | undefined {
  switch (entry.kind) {
    case 'step-completed':
    case 'interrupt-answered':
    case 'loop-ended':
      return entry.value
    case 'loop-checkpoint':
      return entry.state
    case 'message-arrived':
      return entry.body
    case 'child-ended':
      return entry.output
    default:
      return undefined
  }
}
