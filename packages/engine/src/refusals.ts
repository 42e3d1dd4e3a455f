// Why a supervisor refuses a call, in its caller's words.
import {
  aborted,
  ErrorCode,
  HoldfastError,
  isHoldfastError,
  isStoreConflict,
  isTerminal,
  Limits,
  runNotFound,
  unansweredInterrupts,
} from '@holdfast/core'
import type { JsonValue, OpenInterrupt, StoredRun, SupervisorCallOptions } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'

const idempotencyKeyBytes = 512

/** The interrupt that a payload names itself, where its schema has `interrupt_id`. */
export function interruptIn(payload: JsonValue): string | undefined {
  if (typeof payload !== 'object' || payload === null || !('interrupt_id' in payload))
    return undefined
  const { interrupt_id: id } = payload
  return typeof id === 'string' ? id : undefined
}

/** @throws `run_ended`, `run_not_interrupted`, `ambiguous_interrupt` */
export function soleInterrupt(run: StoredRun): string {
  if (isTerminal(run.record.status)) throw runEnded(run)
  const open = unansweredInterrupts(run)
  const [sole] = open
  if (sole === undefined) {
    throw new HoldfastError(ErrorCode.runNotInterrupted, {
      message: `Run ${run.record.id} has no open interrupt.`,
      details: { run_id: run.record.id },
    })
  }
  if (open.length === 1) return sole.id
  throw new HoldfastError(ErrorCode.ambiguousInterrupt, {
    message: `Run ${run.record.id} has ${open.length} open interrupts: name one.`,
    details: {
      run_id: run.record.id,
      interrupts: open.map(({ id, key }) => ({ id, key })),
    },
  })
}

/** @throws `run_not_interrupted`, `interrupt_not_found` */
export function openInterrupt(run: StoredRun, interruptId: string): OpenInterrupt {
  const interrupt = run.record.interrupts.find(({ id }) => id === interruptId)
  if (interrupt !== undefined) return interrupt
  throw new HoldfastError(
    run.record.interrupts.length === 0 ? ErrorCode.runNotInterrupted : ErrorCode.interruptNotFound,
    {
      message: `Run ${run.record.id} has no such open interrupt.`,
      details: { run_id: run.record.id },
    },
  )
}

/** A model may not answer what a person is asked. */
export function needsPerson(interrupt: OpenInterrupt): HoldfastError {
  return new HoldfastError(ErrorCode.interruptNeedsPerson, {
    message: 'Only a person can answer this interrupt.',
    details: { interrupt_id: interrupt.id },
  })
}

/** The run has ended. */
export function runEnded(run: StoredRun): HoldfastError {
  return new HoldfastError(ErrorCode.runEnded, {
    message: `Run ${run.record.id} has ended.`,
    details: { run_id: run.record.id, status: run.record.status },
  })
}

/** The run has closed a stream since its caller looked. */
export function streamMoved(run: StoredRun): HoldfastError {
  return new HoldfastError(ErrorCode.runConflict, {
    message: `Run ${run.record.id} has gone on since it was looked at.`,
    details: { run_id: run.record.id },
  })
}

/** @throws `arguments_invalid` for an idempotency key that is empty or too long */
export function assertKey(key: string | undefined): void {
  if (key === undefined) return
  if (key !== '' && utf8Length(key) <= idempotencyKeyBytes) return
  throw argumentsInvalid(`An idempotency key must have 1 to ${idempotencyKeyBytes} bytes.`)
}

/** @throws `limit_exceeded` for a message over 64 KiB */
export function assertEntrySize(value: string): void {
  if (value.length * 3 <= Limits.inboxEntryBytes) return
  if (utf8Length(value) <= Limits.inboxEntryBytes) return
  throw new HoldfastError(ErrorCode.limitExceeded, {
    message: `A message can have ${Limits.inboxEntryBytes} bytes.`,
    details: { limit: 'inboxEntryBytes' },
  })
}

/** @throws `aborted` when the caller has given up already */
export function assertGoing(options: SupervisorCallOptions, what: string): void {
  if (options.signal?.aborted === true) throw aborted(options.signal, what)
}

/** The call itself makes no sense. */
export function argumentsInvalid(message: string): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, { message })
}

/** Whether an error is Holdfast's, with this code. */
export function isCode(error: unknown, code: ErrorCode): boolean {
  return isHoldfastError(error) && error.code === code
}

/** A refused write in the caller's words. Conflicts of the caller's own writes stay as they are. */
export function refusalOf(error: unknown, run: StoredRun): unknown {
  if (!isStoreConflict(error)) return error
  const { id } = run.record
  switch (error.facts.reason) {
    case 'run-ended':
    case 'log-closed':
      return runEnded(run)
    case 'run-absent':
      return runNotFound(id)
    case 'interrupt-not-open':
      return new HoldfastError(ErrorCode.interruptNotFound, {
        message: 'The interrupt is not open any more.',
        details: { run_id: id },
      })
    case 'stream-number':
      return streamMoved(run)
    case 'inbox-full':
      return new HoldfastError(ErrorCode.inboxFull, {
        message: `Run ${id} has too many messages that it has not read.`,
        details: { run_id: id },
      })
    default:
      return error
  }
}
