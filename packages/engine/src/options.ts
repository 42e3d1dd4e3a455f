import { Limits, wholeNumberOption } from '@holdfast/core'
import type { Catalog, Log, Store, System } from '@holdfast/core'
import type { EngineTelemetry } from './telemetry.ts'

/** Bounds that a host may set. Times are milliseconds. */
export interface EngineLimits {
  /** Runs of this engine that hold a slot at once. Default 1,000; 1 to 100,000. */
  readonly maxActiveRuns: number
  /** Runs of one session that hold a slot at once. Default 4; 1 to 64. */
  readonly maxWorkers: number
  /** How long definition code may be idle without a reason that the context knows. Default 1,000. */
  readonly watchdogMs: number
  /** A session without work for so long is let go of. Default 60,000. */
  readonly sessionIdleMs: number
  /** How long bodies may take to notice a cancel, or that the definition has returned. Default 5,000. */
  readonly cancelGraceMs: number
  /** How long cleanup may take, from the cancel's entry on. Default 30,000. */
  readonly cleanupMs: number
  /** How long `drain` waits for bodies that run. Default 10,000. */
  readonly drainMs: number
  /** A wait longer than this gives its slot back. Default 50. */
  readonly parkAfterMs: number
  /** Takeovers without a new journal entry after which a run fails as `crash_loop`. Default 5. */
  readonly recoveries: number
}

/** Fills in defaults and checks bounds. @throws `configuration_invalid` */
export function engineLimits(given: Partial<EngineLimits> = {}): EngineLimits {
  const whole = (name: keyof EngineLimits, standard: number, min: number, max: number): number =>
    wholeNumberOption(name, given[name] ?? standard, { min, max })
  const day = 24 * 60 * 60 * 1_000
  return {
    maxActiveRuns: whole('maxActiveRuns', Limits.maxActiveRuns, 1, 100_000),
    maxWorkers: whole('maxWorkers', Limits.maxWorkers, 1, Limits.maxWorkersMax),
    watchdogMs: whole('watchdogMs', 1_000, 1, day),
    sessionIdleMs: whole('sessionIdleMs', Limits.sessionIdleMs, 1, day),
    cancelGraceMs: whole('cancelGraceMs', Limits.cancelGraceMs, 0, day),
    cleanupMs: whole('cleanupMs', Limits.cleanupMs, 0, day),
    drainMs: whole('drainMs', Limits.drainMs, 0, day),
    parkAfterMs: whole('parkAfterMs', 50, 0, day),
    recoveries: whole('recoveries', Limits.recoveriesBeforeCrashLoop, 1, 1_000),
  }
}

/** What every part of one engine shares. */
export interface Services {
  readonly store: Store
  readonly catalog: Catalog
  readonly system: System
  readonly log: Log
  readonly telemetry: EngineTelemetry | undefined
  readonly limits: EngineLimits
}
