import { momentKinds } from './moments.ts'
import type { MomentKind } from './moments.ts'
import type { SeededRandom } from './seeded-random.ts'

/** When one kill happens. Times are milliseconds. */
export type PlannedKill =
  /** So long after the server was launched, whether it answers by then or not. */
  | { readonly kind: 'while-starting'; readonly afterMs: number }
  /** So long after the server answered, or after all work that it found has moved; then at what it is aimed at. */
  | {
      readonly kind: 'while-serving'
      readonly letsAllMove: boolean
      readonly afterMs: number
      readonly aim: Aim
    }

/** What a kill waits for at last. */
export type Aim =
  | { readonly kind: 'nothing' }
  /** The first such moment, and so long after it. */
  | { readonly kind: 'moment'; readonly moment: MomentKind; readonly laterMs: number }
  /** The first effect that is seen in the order desk's tables: its step may not be journaled yet. */
  | { readonly kind: 'effect' }

/**
 * Plans the kills of a seed.
 *
 * Most are aimed at moments where something has just been asked, said or done. In every third life
 * all work gets the time for a step: a step that never gets the time to end never ends, and a run
 * that is taken over again and again without a step is given up by design.
 */
export function planKills(count: number, random: SeededRandom): readonly PlannedKill[] {
  return Array.from({ length: count }, (_, index) => {
    const letsAllMove = index % 3 === 2
    if (!letsAllMove && random.next() < 0.15) {
      return { kind: 'while-starting', afterMs: random.between(100, 1_500) }
    }
    const afterMs = random.between(0, letsAllMove ? 300 : 1_200)
    return { kind: 'while-serving', letsAllMove, afterMs, aim: planAim(random) }
  })
}

function planAim(random: SeededRandom): Aim {
  const chance = random.next()
  if (chance < 0.35) return { kind: 'nothing' }
  if (chance < 0.55) return { kind: 'effect' }
  return {
    kind: 'moment',
    moment: random.pick(momentKinds),
    laterMs: random.pick([0, 0, 1, 2, 3, 5, 8, 13, 21, 40]),
  }
}
