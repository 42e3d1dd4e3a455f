import type { System } from '@holdfast/core'

/** A system for one process of several that a test plays. */
export interface MortalSystem extends System {
  /** The process dies: what it waits for never comes, no timer and no macrotask. */
  kill(): void
}

/** Lets a process that a test plays die without taking the test's own system along. */
export function createMortalSystem(system: System): MortalSystem {
  let isAlive = true
  const whileAlive = (run: () => void) => (): void => {
    if (isAlive) run()
  }
  return {
    now: () => system.now(),
    next: () => system.next(),
    runId: () => system.runId(),
    uuid: () => system.uuid(),
    shortId: () => system.shortId(),
    after: (delayMs, run) => system.after(delayMs, whileAlive(run)),
    macrotask: (run) => system.macrotask(whileAlive(run)),
    kill: () => {
      isAlive = false
    },
  }
}
