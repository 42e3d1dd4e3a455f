import type { SeededRandom } from '../seeded-random.ts'

/** Chunks of an answer that are not words: what begins it, and what ends it. */
const opening = 3
const closing = 3

/** How many chunks of an answer of so many words to wait for: often just about all, where an end and an interruption meet. */
export function somewhere(random: SeededRandom, words: number): number {
  const all = opening + words + closing
  return random.next() < 0.5 ? random.between(1, all) : random.between(all - closing - 2, all)
}
