// Runs a scenario again and again, each time with other faults, and tells which ones broke it.
import { configurationInvalid, ErrorCode, HoldfastError } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import type { Fault, FaultKind, FaultMeans, FaultPlan, RandomFaults } from './faults.ts'
import { faultyStore } from './faulty-store.ts'
import type { FaultyStore } from './faulty-store.ts'

/** One run of a scenario. */
export interface FaultTrial {
  /** What is planned for it; empty in the first run of all, and with random faults. */
  readonly faults: readonly Fault[]
  /**
   * Wraps the store of the process under test. The first store that is wrapped in a trial has its
   * faults; later ones, of processes that go on after a crash, have none.
   */
  wrap(store: Store, means?: FaultMeans): FaultyStore
}

/** What is done and expected, from a fresh database on: it throws if what has to be so is not. */
export type FaultScenario = (trial: FaultTrial) => Promise<void>

/** What was tried. */
export interface FaultTally {
  /** How often the scenario was run. */
  readonly trials: number
  /** How many faults were injected in all. */
  readonly faults: number
}

/**
 * Runs a scenario once without a fault, then once for each of its commits and each of these kinds.
 *
 * With `crash-before` and `crash-after` that is a crash at every commit. It stops at the first
 * trial that fails and throws `internal`, whose message has the faults to give to
 * {@link replayFaults}, and whose cause is the scenario's error. So it does if a trial never
 * reached its fault: a scenario has to make the same commits every time.
 */
export async function forEachFault(
  kinds: readonly FaultKind[],
  scenario: FaultScenario,
): Promise<FaultTally> {
  const { commits } = await tried({}, scenario)
  let trials = 1
  for (let commit = 1; commit <= commits; commit += 1) {
    for (const kind of kinds) {
      await tried({ faults: [{ commit, kind }] }, scenario)
      trials += 1
    }
  }
  return { trials, faults: trials - 1 }
}

/**
 * Runs a scenario with random faults, once a seed from `random.seed` on. Throws as
 * {@link forEachFault} does, with what was injected.
 */
export async function forEachSeed(
  random: RandomFaults & { readonly seeds: number },
  scenario: FaultScenario,
): Promise<FaultTally> {
  const { seeds, ...first } = random
  let faults = 0
  for (let trial = 0; trial < seeds; trial += 1) {
    const seed = first.seed + trial
    const wrapped = await tried({ random: { ...first, seed } }, scenario)
    faults += wrapped.injected.length
  }
  return { trials: seeds, faults }
}

/** Runs a scenario with the faults that a failure told of. */
export async function replayFaults(
  faults: readonly Fault[],
  scenario: FaultScenario,
): Promise<void> {
  await tried({ faults }, scenario)
}

async function tried(
  plan: Pick<FaultPlan, 'faults' | 'random'>,
  scenario: FaultScenario,
): Promise<FaultyStore> {
  let first: FaultyStore | undefined
  const trial: FaultTrial = {
    faults: plan.faults ?? [],
    wrap(store, means = {}) {
      if (first !== undefined) return faultyStore(store, means)
      first = faultyStore(store, { ...means, ...plan })
      return first
    },
  }
  try {
    await scenario(trial)
  } catch (error) {
    throw broken(first?.injected ?? [], error)
  }
  if (first === undefined) throw configurationInvalid('The scenario has wrapped no store.')
  const { injected } = first
  if (plan.faults !== undefined && injected.length < plan.faults.length) {
    throw broken(
      plan.faults,
      new HoldfastError(ErrorCode.internal, {
        message: `it made ${first.commits} commits and ${first.calls} calls, and never reached its fault`,
      }),
    )
  }
  return first
}

function broken(faults: readonly Fault[], error: unknown): HoldfastError {
  const reason = error instanceof Error ? error.message : String(error)
  return new HoldfastError(ErrorCode.internal, {
    message: `The scenario failed with faults: ${JSON.stringify(faults)}: ${reason}`,
    cause: error,
  })
}
