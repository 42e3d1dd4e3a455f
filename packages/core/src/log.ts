import type { JsonObject } from './json-value.ts'

/** How much a record matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** One record for the host's log. Causes and stacks go here and nowhere else. */
export interface LogRecord {
  readonly level: LogLevel
  /** A stable, lower-case, dotted name, such as `engine.step.failed`. */
  readonly event: string
  readonly message: string
  /** Ids and counts; never inputs or state. */
  readonly fields?: JsonObject
  readonly cause?: unknown
}

/** Where Holdfast's packages write what a host's operator should know. Must not throw. */
export interface Log {
  write(record: LogRecord): void
}

/** A log that drops everything: the default. */
export const silentLog: Log = { write: () => undefined }
