import { recordOf, textOf, timeOf } from '../api/json-reader.ts'

/** Something that happened in a run. */
export interface HistoryEntry {
  readonly id: string
  readonly kind: string
  /** The step that it is about. */
  readonly label?: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Reads an activity from the server's JSON; `undefined` when it is none. */
export function historyEntryFrom(value: unknown): HistoryEntry | undefined {
  const entry = recordOf(value)
  const id = textOf(entry?.['event_id'])
  const kind = textOf(entry?.['kind'])
  if (entry === undefined || id === undefined || kind === undefined) return undefined
  const label = textOf(entry['step_label'])
  return {
    id,
    kind,
    at: timeOf(entry['occurred_at']) ?? 0,
    ...(label === undefined ? {} : { label }),
  }
}
