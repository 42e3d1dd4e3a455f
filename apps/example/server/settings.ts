import { configurationInvalid } from '@holdfast/core'

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

/** Variables and their values. A variable that is empty is as good as none. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Reads `HOST`, `PORT`, `HOLDFAST_DB`, `HOLDFAST_SECRET`. @throws `configuration_invalid` */
export function settingsFrom(environment: Environment): Settings {
  return {
    host: textSetting(environment, 'HOST') ?? '127.0.0.1',
    port: numberSetting(environment, 'PORT', 3_000, 65_535),
    databasePath: textSetting(environment, 'HOLDFAST_DB') ?? '.holdfast/holdfast.db',
    secret: textSetting(environment, 'HOLDFAST_SECRET'),
    reportPauseMs: numberSetting(environment, 'HOLDFAST_REPORT_PAUSE_MS', 1_500, 86_400_000),
  }
}

/** A file of the application's own beside the database: `holdfast.db` → `holdfast.orders.db`. */
export function besideDatabase(databasePath: string, suffix: string): string {
  return `${databasePath.replace(/\.db$/, '')}.${suffix}`
}

/** What a variable says, if it says anything. */
export function textSetting(environment: Environment, name: string): string | undefined {
  const text = environment[name]
  return text === '' ? undefined : text
}

/** The whole number that a variable says, from 0. @throws `configuration_invalid` */
export function numberSetting(
  environment: Environment,
  name: string,
  fallback: number,
  max: number,
): number {
  const text = textSetting(environment, name)
  if (text === undefined) return fallback
  if (/^\d{1,15}$/.test(text) && Number(text) <= max) return Number(text)
  throw configurationInvalid(`${name} must be a whole number from 0 to ${max}.`)
}
