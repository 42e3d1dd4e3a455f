// Decides what becomes of a run that has a slot: it is executed, ended, or waits for code.
//
// Owns:  nothing.
// Asks:  the store for the run as it is now; the catalog for its code; `claimRun` for the claim.
// Never: executes anything.
//
// J1. A pending run that is cancelled never runs; neither does one without fitting code.
// J2. A run that waits for code is never failed for it; its row says so, and a cancel ends it.
import { cancelKey, ErrorCode, hasErrorCode, isTerminal } from '@holdfast/core'
import type { RegisteredDefinition, RunError } from '@holdfast/core'
import type { LoadedRun } from './execution-parts.ts'
import type { Services } from './options.ts'
import { commitRun, learn } from './run-commit.ts'
import type { Ownership, RunState } from './run-commit.ts'
import type { EndedRun } from './run-end.ts'
import { codeAwaited, roused } from './run-moves.ts'
import { fitOf } from './skew.ts'
import type { Fit } from './skew.ts'
import { claimRun, loadRun } from './taking-over.ts'
import { crashLoop, endUnexecuted, unreadable } from './unexecuted-end.ts'

/** What taking a run up needs. */
export interface TakeUpPort {
  readonly services: Services
  readonly ownership: Ownership
  readonly state: RunState
  /** This process has tried the run, and its code does not fit. */
  readonly isStuck: boolean
  /** This process has taken the run up before, and lives. */
  readonly hasSurvived: boolean
  /** False once the run was let go of. */
  readonly isWanted: () => boolean
}

/** What became of it. */
export type TakenUp =
  | {
      readonly kind: 'loaded'
      readonly registered: RegisteredDefinition
      readonly loaded: LoadedRun
      readonly hasUnread: boolean
    }
  | { readonly kind: 'ended'; readonly end: EndedRun }
  /** It had ended, or is gone. */
  | { readonly kind: 'over' }
  /** It waits for code, which another process may have. */
  | { readonly kind: 'unfit'; readonly elsewhere: boolean }
  | { readonly kind: 'unwanted' }

/** Takes a run up, as far as it can be without executing it. */
export async function takeUp(port: TakeUpPort): Promise<TakenUp> {
  const { services, ownership, state, isStuck, hasSurvived, isWanted } = port
  const { store, catalog } = services
  const stored = await store.run(state.sessionId, state.runId)
  if (!isWanted()) return { kind: 'unwanted' }
  if (stored === undefined || isTerminal(stored.record.status)) return { kind: 'over' }
  learn(state, stored)
  const { record } = stored
  const isCancelled = stored.unread.includes(cancelKey) || record.cancelRequested === true
  const registered = catalog.find(record.definition.name, record.definition.version)
  const fit = fitOf(record, registered)
  const end = async (error?: RunError): Promise<TakenUp> => ({
    kind: 'ended',
    end: await endUnexecuted(
      { services, ownership, state, registered },
      error === undefined ? { kind: 'cut' } : { kind: 'cut', error },
    ),
  })
  if (isCancelled && (record.status === 'pending' || isStuck || fit.kind === 'unfit')) return end()
  if (fit.kind === 'unfit') return block(port, fit)
  if (!(await claimRun(services, ownership, state, hasSurvived))) return end(crashLoop)
  const loaded = await load(port, fit)
  if (loaded === undefined) return end(unreadable)
  if ('kind' in loaded) return block(port, loaded)
  if (!isWanted()) return { kind: 'unwanted' }
  const { registered: code } = fit
  return { kind: 'loaded', registered: code, loaded, hasUnread: stored.unread.length > 0 }
}

type Unfit = Extract<Fit, { readonly kind: 'unfit' }>

/** A migration whose names do not fit the journal leaves the run waiting, like one that throws. */
async function load(
  { services, state }: TakeUpPort,
  fit: Exclude<Fit, Unfit>,
): Promise<LoadedRun | undefined | Unfit> {
  if (fit.kind === 'fits') return loadRun(services.store, state, undefined)
  try {
    return await loadRun(services.store, state, fit.migration)
  } catch (cause) {
    if (!hasErrorCode(cause, ErrorCode.determinism)) throw cause
    return { kind: 'unfit', why: 'not_migrated', cause }
  }
}

/** No code here fits the run: its row says so, and another process may try. */
async function block(
  { services, ownership, state }: TakeUpPort,
  { why, cause }: Unfit,
): Promise<TakenUp> {
  const { record, journalNext } = state
  const { name, version } = record.definition
  services.log.write({
    level: 'error',
    event: 'engine.run.blocked',
    message: `A run of ${name}@${version} waits: ${reasons[why]}.`,
    fields: { run_id: state.runId },
    cause,
  })
  const now = services.system.now()
  await commitRun(services, ownership, state, {
    record: codeAwaited(roused(record, now, journalNext), now, journalNext),
  })
  return { kind: 'unfit', elsewhere: why === 'unknown' || why === 'changed' }
}

const reasons = {
  unknown: 'this process has no such definition',
  changed: 'its definition has changed since it began',
  rejected: 'its definition has changed since it began, and takes no older runs',
  not_migrated: 'its journal could not be migrated to the definition as it is now',
} as const satisfies Record<Unfit['why'], string>
