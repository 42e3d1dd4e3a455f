// Writes one group of commits in one transaction, and finds out what became of it.
//
// Owns:  nothing beyond one call.
// Asks:  the rules what becomes of each commit; the server, on another connection, whether a
//        transaction whose connection was lost has been carried out.
// Never: schedules, and never answers "done" for what was not acknowledged or looked up.
//
// G1. Two messages: one locks and reads, one writes and commits. Between them the group is judged.
// G2. What was not sent to be committed was not written: the group is tried again, within bounds.
// G3. Once it was sent, only the server says what became of it: rolled back, and the group is tried
//     again; carried out, and it is answered; no way to know, and commit ids decide, or nobody does.
// G4. A process that is paused between the two messages holds its locks for half a lease at most: then
//     the server ends its transaction, and whoever takes over need not wait for it.
// G5. A request that fails by itself fails alone: the others are written without it.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Commit, Receipt } from '@holdfast/core'
import { commitIdAt, judge } from '@holdfast/core/commit-rules'
import type { CommitEffect, Verdict } from '@holdfast/core/commit-rules'
import { abandon } from './database.ts'
import type { Database } from './database.ts'
import { EffectBatch } from './effect-batch.ts'
import { beginGroup, groupViewOf } from './group-view.ts'
import type { TransactionMark } from './group-view.ts'
import { failureKind, storageError } from './postgres-error.ts'
import { sql, trusted } from './sql-text.ts'
import { outcomeOf, seenCommits } from './transaction-outcome.ts'

/** What became of a commit. `work`: a session without a live owner may have work now. */
export type CommitOutcome =
  | {
      readonly kind: 'committed'
      readonly receipt: Receipt
      readonly work: boolean
      /** Nothing was written: the commit had been accepted before. */
      readonly repeated: boolean
    }
  | { readonly kind: 'failed'; readonly error: HoldfastError }

/** How often a group gives way to others' before it is given up. */
const contentions = 10

/**
 * Plans follow the keys: a plan that was made while the tables were small is kept, and must be right
 * for large ones.
 */
const planning =
  'set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off'

interface Attempt {
  readonly outcomes: readonly CommitOutcome[]
  /** Set once the statements to commit may have reached the server. */
  readonly unsure?: { readonly mark: TransactionMark; readonly cause: unknown }
}

/** Writes a group. Answers one outcome a commit, in order; never throws. */
export async function writeGroup(
  database: Database,
  commits: readonly Commit[],
): Promise<readonly CommitOutcome[]> {
  let waited = 0
  let contended = 0
  for (let count = 0; ; count += 1) {
    try {
      const { outcomes, unsure } = await attemptGroup(database, commits)
      if (unsure === undefined) return outcomes
      const known = await outcomeOf(database, unsure.mark)
      if (known === 'committed') return outcomes
      if (known === 'unknown') {
        return await decideByIds(database, commits, outcomes, unsure.cause)
      }
      throw unsure.cause
    } catch (error) {
      const kind = failureKind(error)
      if (kind === 'contended') contended += 1
      else if (kind !== 'line') return failGroup(database, commits, error)
      if (contended > contentions || waited >= database.settings.unavailableMs) {
        return all(commits, storageError(error))
      }
      waited += await database.pause(kind === 'contended' ? contended - 1 : count)
    }
  }
}

async function attemptGroup(database: Database, commits: readonly Commit[]): Promise<Attempt> {
  const { schema, settings } = database
  const connection = await database.connect('group')
  let mark: TransactionMark | undefined
  let outcomes: readonly CommitOutcome[] = []
  try {
    const found = await connection.run(
      sql`begin isolation level read committed read write;
        set local statement_timeout = ${settings.statementMs};
        set local idle_in_transaction_session_timeout = ${Math.ceil(settings.leaseMs / 2)};
        ${trusted(planning)}; ${beginGroup(schema, commits)}`,
    )
    const now = settings.system.now()
    const group = groupViewOf(commits, found.at(-1)?.[0]?.['found'], now - settings.tombstoneMs)
    const batch = new EffectBatch(group, now)
    outcomes = commits.map((commit) => {
      const verdict = judge(group.view, commit)
      if (verdict.kind === 'accepted') for (const effect of verdict.effects) batch.add(effect)
      return committed(verdict, group.owned.has(commit.sessionId))
    })
    if (batch.empty) {
      await connection.run(trusted('rollback'))
      connection.release()
      return { outcomes }
    }
    const statements = batch.statements(schema)
    mark = group.transaction
    await connection.run(sql`${statements}; commit`)
    connection.release()
    return { outcomes }
  } catch (error) {
    await abandon(connection, error)
    // A statement that the server refused has ended the transaction; a lost line has told nothing.
    if (mark === undefined || failureKind(error) !== 'line') throw error
    return { outcomes, unsure: { mark, cause: error } }
  }
}

function committed(verdict: Verdict, isOwned: boolean): CommitOutcome {
  switch (verdict.kind) {
    case 'refused':
      return { kind: 'failed', error: verdict.error }
    case 'repeated':
      return { kind: 'committed', receipt: verdict.receipt, work: false, repeated: true }
    case 'accepted': {
      const work = !isOwned && verdict.effects.some(isWork)
      return { kind: 'committed', receipt: verdict.receipt, work, repeated: false }
    }
  }
}

/** A failure that is nobody's in particular: each commit is tried by itself, so that one fails alone. */
async function failGroup(
  database: Database,
  commits: readonly Commit[],
  error: unknown,
): Promise<readonly CommitOutcome[]> {
  const kind = failureKind(error)
  if (commits.length === 1 || (kind !== 'other' && kind !== 'damaged')) {
    return all(commits, storageError(error))
  }
  const outcomes: CommitOutcome[] = []
  for (const commit of commits) outcomes.push(...(await writeGroup(database, [commit])))
  return outcomes
}

async function decideByIds(
  database: Database,
  commits: readonly Commit[],
  outcomes: readonly CommitOutcome[],
  cause: unknown,
): Promise<readonly CommitOutcome[]> {
  const seen = await seenCommits(database, commits).catch(() => undefined)
  return commits.map((commit, index) => {
    const outcome = outcomes[index]
    // What was refused, or had been written before, is so whatever became of the others.
    if (outcome?.kind === 'failed' || outcome?.repeated === true) return outcome
    const { sessionId, commitId } = commit
    const receipt = commitId === undefined ? undefined : seen?.get(commitIdAt(sessionId, commitId))
    if (receipt === undefined) return { kind: 'failed', error: outcomeUnknown(cause) }
    return { kind: 'committed', receipt, work: true, repeated: false }
  })
}

function outcomeUnknown(cause: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.storeOutcomeUnknown, {
    message: 'The connection was lost while the commit was being written.',
    cause,
  })
}

function all(commits: readonly Commit[], error: HoldfastError): readonly CommitOutcome[] {
  return commits.map(() => ({ kind: 'failed', error }))
}

/** Whether a change may make a session work for whoever takes it. */
function isWork(effect: CommitEffect): boolean {
  return effect.kind === 'run-insert' || effect.kind === 'run-update' || effect.kind === 'run-ready'
}
