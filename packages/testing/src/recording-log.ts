import type { Log, LogRecord } from '@holdfast/core'

/** A log that keeps what was written to it, for a test to look at. */
export interface RecordingLog extends Log {
  readonly records: readonly LogRecord[]
  /** The records of one event, oldest first. */
  of(event: string): readonly LogRecord[]
}

/** Makes a log that keeps its records. */
export function createRecordingLog(): RecordingLog {
  const records: LogRecord[] = []
  return {
    records,
    write: (record) => void records.push(record),
    of: (event) => records.filter((record) => record.event === event),
  }
}
