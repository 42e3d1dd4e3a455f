import { describe } from 'vitest'
import { describeCommits } from './store-commits.ts'
import { describeConflicts } from './store-conflicts.ts'
import { describeGroups } from './store-groups.ts'
import { describeLimits } from './store-limits.ts'
import { describeLogs } from './store-logs.ts'
import { describeOpening } from './store-opening.ts'
import { describeOutcomes } from './store-outcomes.ts'
import { describeOwnership } from './store-ownership.ts'
import { describePurge } from './store-purge.ts'
import { describeReads } from './store-reads.ts'
import { describeStreams } from './store-streams.ts'
import type { StoreTarget } from './store-target.ts'
import { describeWatches } from './store-watches.ts'

/** The suite of the store port: call it in a test file. Every store passes it whole. */
export function describeStore(name: string, target: StoreTarget): void {
  // oxlint-disable-next-line vitest/valid-title -- the name is the caller's
  describe(name, { timeout: target.testMs ?? 120_000 }, () => {
    describeCommits(target)
    describeConflicts(target)
    describeGroups(target)
    describeOutcomes(target)
    describeLogs(target)
    describeStreams(target)
    describeReads(target)
    describeOwnership(target)
    describeWatches(target)
    describeLimits(target)
    describePurge(target)
    describeOpening(target)
  })
}
