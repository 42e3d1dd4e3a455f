// What every call on the runs of one session shares: the run as it is now, and a commit without a fence.
import { inboxOf, runNotFound } from '@holdfast/core'
import type { LogAppend, RunGuard, StoredRun, UnfencedWrite } from '@holdfast/core'
import type { EmbeddedEngine } from './engine.ts'
import type { Services } from './options.ts'

/** The runs of one session, as callers from outside reach them. */
export class SessionRuns {
  readonly sessionId: string
  readonly #engine: EmbeddedEngine

  constructor(engine: EmbeddedEngine, sessionId: string) {
    this.#engine = engine
    this.sessionId = sessionId
  }

  get services(): Services {
    return this.#engine.services
  }

  /** The run as the store has it now. @throws `run_not_found` */
  async run(runId: string): Promise<StoredRun> {
    const run = await this.services.store.run(this.sessionId, runId)
    if (run === undefined) throw runNotFound(runId)
    return run
  }

  /** Commits a call's own writes, and those that its caller wants to share the commit. */
  async commit(
    writes: readonly UnfencedWrite[],
    others: readonly UnfencedWrite[] | undefined,
  ): Promise<void> {
    await this.services.store.commit({
      sessionId: this.sessionId,
      writes: [...writes, ...(others ?? [])],
    })
  }

  /** Something may have reached a run. */
  nudge(runId: string): void {
    this.#engine.nudge(this.sessionId, runId)
  }
}

/** An entry of a run's inbox, written only while the guard holds and the key is free. */
export function inboxAppend(runId: string, key: string, value: string, guard: RunGuard): LogAppend {
  return { kind: 'log-append', log: inboxOf(runId), key, value, guard, onFailure: 'fail' }
}
