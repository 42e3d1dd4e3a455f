import { parseArgs } from 'node:util'

/** What the crash proof was asked for. */
export interface CrashArguments {
  readonly kills: number
  readonly seeds: readonly number[]
  readonly json: boolean
}

/** How it is called. */
export const usage =
  'npm run crash -- [--kills N] [--seed N | --seeds FIRST..LAST] [--json]   (20 kills, seed 1)'

/** Reads the command line. @throws Error, saying what is wrong with it */
export function parseCrashArguments(args: readonly string[]): CrashArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: 'string', default: '20' },
      seed: { type: 'string' },
      seeds: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  if (values.seed !== undefined && values.seeds !== undefined) {
    throw new Error('--seed or --seeds, not both')
  }
  return {
    kills: wholeNumber('--kills', values.kills, 1),
    seeds:
      values.seeds === undefined
        ? [wholeNumber('--seed', values.seed ?? '1', 0)]
        : seedRange(values.seeds),
    json: values.json,
  }
}

function seedRange(text: string): readonly number[] {
  const [first, last, ...more] = text.split('..').map((part) => wholeNumber('--seeds', part, 0))
  if (first === undefined || last === undefined || more.length > 0 || last < first) {
    throw new Error('--seeds must be FIRST..LAST')
  }
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text)
  if (/^\d{1,9}$/.test(text) && value >= min) return value
  throw new Error(`${name} must be a whole number from ${min} on`)
}
