import { HoldfastError } from '@holdfast/core'

/** What the server is told by its environment. */
export interface Settings {
  readonly host: string
  readonly port: number
  readonly databasePath: string
  /** Signs session cookies. Absent: a key is made and kept beside the database. */
  readonly secret: string | undefined
  /** The durable pauses of the report, in milliseconds. */
  readonly reportPauseMs: number
}

/** Reads `HOST`, `PORT`, `HOLDFAST_DB`, `HOLDFAST_SECRET`. @throws `configuration_invalid` */
export function settingsFrom(environment: Readonly<Record<string, string | undefined>>): Settings {
  return {
    host: environment['HOST'] ?? '127.0.0.1',
    port: wholeNumber(environment, 'PORT', 3_000, 65_535),
    databasePath: environment['HOLDFAST_DB'] ?? '.holdfast/holdfast.db',
    secret: environment['HOLDFAST_SECRET'],
    reportPauseMs: wholeNumber(environment, 'HOLDFAST_REPORT_PAUSE_MS', 1_500, 86_400_000),
  }
}

/** A file of the application's own beside the database: `holdfast.db` → `holdfast.orders.db`. */
export function besideDatabase(databasePath: string, suffix: string): string {
  return `${databasePath.replace(/\.db$/, '')}.${suffix}`
}

function wholeNumber(
  environment: Readonly<Record<string, string | undefined>>,
  name: string,
  fallback: number,
  max: number,
): number {
  const text = environment[name]
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= max) return value
  throw new HoldfastError('configuration_invalid', {
    message: `${name} must be a whole number from 0 to ${max}.`,
  })
}
