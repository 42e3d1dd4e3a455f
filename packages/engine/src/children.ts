// Child runs of one execution: how they are made, and how they are asked to stop.
import { ErrorCode, HoldfastError, isHoldfastError, Limits } from '@holdfast/core'
import type { RunRecord } from '@holdfast/core'
import { stepIdOf } from '@holdfast/workflow'
import type { ChildStarter, OperationHost, PreparedChild } from './operation-host.ts'
import type { OwnedSession } from './ownership.ts'
import { cancelWrite } from './run-end.ts'
import { checkInputValue, newRun } from './new-run.ts'
import { tellStarted } from './telemetry.ts'

/** Starts and cancels the children of one run. */
export class RunChildren implements ChildStarter {
  readonly #session: OwnedSession
  readonly #host: OperationHost
  readonly #parent: RunRecord

  constructor(session: OwnedSession, host: OperationHost, parent: RunRecord) {
    this.#session = session
    this.#host = host
    this.#parent = parent
  }

  prepare(request: Parameters<ChildStarter['prepare']>[0]): PreparedChild {
    const { path, label, definition, input } = request
    const runId = stepIdOf(this.#parent.id, `child:${this.#host.originOf(path)}`)
    try {
      if (this.#open() > Limits.childrenOfRun) throw tooManyChildren()
      const { services, slots } = this.#session
      const registered = services.catalog.resolve(definition.name, definition.version)
      const checked = checkInputValue(registered, input)
      return {
        kind: 'ready',
        runId,
        start: () => {
          const { writer } = this.#host
          const at = writer.time()
          const slot = slots.take(this.#parent.sessionId)
          const run = newRun({
            id: runId,
            sessionId: this.#parent.sessionId,
            registered,
            input: checked,
            now: at,
            status: slot === undefined ? 'pending' : 'running',
            parentRunId: this.#parent.id,
            childOf: this.#parent.id,
          })
          this.#host.childStarted(runId, path, label)
          writer.append(
            { kind: 'child-started', at, path, label, runId, definition },
            {
              canWait: true,
              before: run.writes,
              committed: () => {
                tellStarted(services, run.record)
                this.#session.runCreated(run, registered, slot)
              },
              dropped: () => slot?.release(),
            },
          )
        },
      }
    } catch (error) {
      if (isHoldfastError(error)) return { kind: 'refused', runId, error }
      throw error
    }
  }

  /** How many children have not ended, the one that is asked for included. */
  #open(): number {
    let open = 0
    for (const { kind } of this.#host.operations) if (kind === 'child') open += 1
    return open
  }

  cancel(childRunId: string): void {
    const { writer } = this.#host
    writer.write(
      [cancelWrite(childRunId, { at: writer.time(), reason: 'not wanted any more', by: 'parent' })],
      () => this.#session.nudge(childRunId),
    )
  }
}

function tooManyChildren(): HoldfastError {
  return new HoldfastError(ErrorCode.limitExceeded, {
    message: `A run can have ${Limits.childrenOfRun} children at once.`,
    details: { limit: 'childrenOfRun' },
  })
}
