// What benchmarks share: the raw sync rate of this moment, percentiles, and the form of a result.
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'

/** One figure of a benchmark. `min` and `max` are over its rounds; `value` is their median. */
export interface Row {
  readonly id: string
  readonly value: number
  readonly unit: string
  readonly min: number
  readonly max: number
  /** What is to be reached: at most or at least, in words of `<=` and `>=`. */
  readonly target?: string
  readonly ok?: boolean
}

/** What one benchmark prints. */
export interface Report {
  readonly bench: string
  readonly date: string
  readonly node: string
  readonly cpus: string
  readonly rows: readonly Row[]
}

/** A bound that a row has to keep. */
export type Target = { readonly atMost: number } | { readonly atLeast: number }

/** Makes a row of the figures of several rounds. */
export function row(id: string, unit: string, rounds: readonly number[], target?: Target): Row {
  const sorted = rounds.toSorted((left, right) => left - right)
  const value = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
  const figures = { id, value, unit, min: sorted[0] ?? value, max: sorted.at(-1) ?? value }
  if (target === undefined) return figures
  return 'atMost' in target
    ? { ...figures, target: `<= ${target.atMost}`, ok: value <= target.atMost }
    : { ...figures, target: `>= ${target.atLeast}`, ok: value >= target.atLeast }
}

/** The report of a benchmark's rows. */
export function report(bench: string, rows: readonly Row[]): Report {
  const [first] = cpus()
  return {
    bench,
    date: new Date().toISOString(),
    node: process.version,
    cpus: `${cpus().length} x ${first?.model ?? 'unknown'}`,
    rows,
  }
}

/** The p-th percentile, p in 0..1. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? Number.NaN
}

/** Appends 500 bytes and fdatasyncs, again and again: p50 in milliseconds, and the rate a second. */
export function rawSync(durationMs = 400): { readonly p50: number; readonly rate: number } {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-sync-'))
  const file = openSync(join(directory, 'raw'), 'w')
  const bytes = Buffer.alloc(500, 'x')
  const times: number[] = []
  const started = performance.now()
  try {
    while (performance.now() - started < durationMs) {
      const before = performance.now()
      writeSync(file, bytes)
      fdatasyncSync(file)
      times.push(performance.now() - before)
    }
  } finally {
    closeSync(file)
    rmSync(directory, { recursive: true })
  }
  return {
    p50: percentile(times, 0.5),
    rate: (times.length / (performance.now() - started)) * 1_000,
  }
}

/** A folder for a benchmark's database, gone when the benchmark has ended. */
export async function withFolder<Result>(
  use: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** CPU time of this process that `work` took, in milliseconds, workers included. */
export async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
