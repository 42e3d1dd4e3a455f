import type { Random } from '@holdfast/core'

/** Numbers that depend on the seed alone (the "mulberry32" generator): for replayable tests. */
export function createSeededRandom(seed: number): Random & {
  /** A whole number from 0 to below `bound`. */
  below(bound: number): number
} {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return { next, below: (bound) => Math.floor(next() * bound) }
}
