// How an execution comes from its outcome to the run's last commit.
//
// Owns:  nothing; it is called once.
// Asks:  running bodies to stop; the execution to drop what is open; `endRun` for the commit.
// Never: commits while anything of the run is in flight.
//
// F1. Bodies that still run are told, waited for up to the grace, and listed.
// F2. What was journaled or read and will never be delivered is named.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { RegisteredDefinition } from '@holdfast/core'
import type { Arrivals } from './arrivals.ts'
import type { Cancellation } from './cancellation.ts'
import { ChildOperation } from './child-run.ts'
import type { Delivery } from './delivery.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { Mailbox } from './mailbox.ts'
import type { OpenOperations } from './open-operations.ts'
import type { Services } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { Ownership, RunState } from './run-commit.ts'
import { endRun } from './run-end.ts'
import type { EndedRun } from './run-end.ts'

/** What ends with an execution. */
export interface EndingPort {
  readonly services: Services
  readonly ownership: Ownership
  readonly state: RunState
  readonly registered: RegisteredDefinition
  readonly writer: JournalWriter
  readonly operations: OpenOperations
  readonly delivery: Delivery
  readonly mailbox: Mailbox
  readonly arrivals: Arrivals
  readonly cancellation: Cancellation
  /** False once the execution was dropped. */
  isEnding(): boolean
  dropOperations(reason: HoldfastError): void
}

/** Ends the run. `undefined`: the execution was dropped meanwhile. */
export async function endExecution(
  port: EndingPort,
  outcome: Outcome,
): Promise<EndedRun | undefined> {
  const { services, ownership, state, writer, registered, delivery, operations } = port
  const inFlight = await settleBodies(port)
  const children = [...operations].flatMap((operation) =>
    operation instanceof ChildOperation && operation.childRunId !== undefined
      ? [operation.childRunId]
      : [],
  )
  port.dropOperations(runEnds())
  await writer.quiet()
  if (!port.isEnding()) return undefined
  const pending = delivery.pending
  const end = await endRun({ services, ownership, state, writer, registered }, outcome, {
    undelivered: [
      ...port.mailbox.ids,
      ...pending.flatMap((entry) => (entry.kind === 'message-arrived' ? [entry.messageId] : [])),
    ],
    superseded: [
      ...port.arrivals.superseded,
      ...pending.flatMap((entry) =>
        entry.kind === 'interrupt-answered' ? [entry.interruptId] : [],
      ),
    ],
    inFlight,
    children,
    cancelReason: port.cancellation.reason,
  })
  return port.isEnding() ? end : undefined
}

/** Tells bodies that run to stop, and waits for them or the grace. Gives the paths of those that ran. */
async function settleBodies(port: EndingPort): Promise<readonly string[]> {
  const { system, limits } = port.services
  const running = port.operations.running()
  if (running.length === 0) return []
  const reason = runEnds()
  for (const step of running) step.signalBody(reason)
  await new Promise<void>((resolve) => {
    const cancel = system.after(limits.cancelGraceMs, resolve)
    const check = (): void => {
      if (port.isEnding() && running.some((step) => step.isRunning)) {
        system.after(pollMs, check)
        return
      }
      cancel()
      resolve()
    }
    check()
  })
  return running.map(({ path }) => path)
}

const pollMs = 1

function runEnds(): HoldfastError {
  return new HoldfastError(ErrorCode.stepAborted, { message: 'The run has ended.' })
}
