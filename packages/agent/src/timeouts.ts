import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { ToolSet } from '@ai-sdk/provider-utils'
import type { Timers } from '@holdfast/core'

/** Milliseconds for the whole call, or for each of its parts. Absent: no limit. */
export type TimeoutSetting<TOOLS extends ToolSet = ToolSet> = number | Timeouts<TOOLS>

/** How long the parts of a call may take, in milliseconds. */
export interface Timeouts<TOOLS extends ToolSet = ToolSet> {
  readonly totalMs?: number | undefined
  /** Of one model call with its retries. */
  readonly stepMs?: number | undefined
  /** Until a model call's first output. A retry begins anew. */
  readonly firstChunkMs?: number | undefined
  /** Between one output and the next. */
  readonly chunkMs?: number | undefined
  /** Of one tool call: then the model is told of an error, and the run goes on. */
  readonly toolMs?: number | undefined
  /** By tool name, in place of `toolMs`; AI SDK's form of the name, with `Ms` behind it, counts as well. */
  readonly tools?: ToolTimes<TOOLS> | undefined
}

/** Milliseconds by tool. */
export type ToolTimes<TOOLS extends ToolSet> = {
  readonly [NAME in keyof TOOLS & string as NAME | `${NAME}Ms`]?: number | undefined
}

/** The limit of one tool. */
export function toolLimitMs(timeouts: Timeouts, toolName: string): number | undefined {
  const { toolMs, tools = {} } = timeouts
  for (const name of [toolName, `${toolName}Ms`]) {
    if (Object.hasOwn(tools, name)) return tools[name]
  }
  return toolMs
}

/** The setting as its parts. */
export function timeoutsOf(setting: TimeoutSetting | undefined): Timeouts {
  if (setting === undefined) return {}
  return typeof setting === 'number' ? { totalMs: setting } : setting
}

/** Which limit ran out. */
export type TimeoutReason = 'total' | 'step' | 'firstChunk' | 'chunk' | 'tool'

/** A limit ran out. */
export function timeoutError(reason: TimeoutReason, limitMs: number): HoldfastError {
  const code = reason === 'tool' ? ErrorCode.toolTimeout : ErrorCode.timeout
  return new HoldfastError(code, {
    message: `${reason} timeout exceeded: ${limitMs} ms.`,
    details: { reason, limit_ms: limitMs },
  })
}

/** A signal that fires with the parents' reason, or with a timeout's error. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Starts, or starts again, the wait for one limit. A limit that is absent waits for nothing. */
  arm(reason: TimeoutReason, limitMs: number | undefined): void
  disarm(reason: TimeoutReason): void
  /** Stops all waits and lets go of the parents. To be called on every way out. */
  dispose(): void
}

/** Makes a {@link Deadline} under parents: when one of them fires, it does. */
export function createDeadline(
  timers: Timers,
  parents: readonly (AbortSignal | undefined)[],
): Deadline {
  const controller = new AbortController()
  const running = new Map<TimeoutReason, () => void>()
  const release: (() => void)[] = []
  for (const parent of parents) {
    if (parent === undefined) continue
    if (parent.aborted) {
      controller.abort(parent.reason)
      continue
    }
    const fire = (): void => controller.abort(parent.reason)
    parent.addEventListener('abort', fire, { once: true })
    release.push(() => parent.removeEventListener('abort', fire))
  }
  const disarm = (reason: TimeoutReason): void => {
    running.get(reason)?.()
    running.delete(reason)
  }
  return {
    signal: controller.signal,
    disarm,
    arm(reason, limitMs) {
      disarm(reason)
      if (limitMs === undefined) return
      const expire = (): void => controller.abort(timeoutError(reason, limitMs))
      running.set(reason, timers.after(Math.max(0, limitMs), expire))
    },
    dispose() {
      for (const reason of [...running.keys()]) disarm(reason)
      for (const letGo of release) letGo()
    },
  }
}

/**
 * The promise's outcome, or the signal's reason as soon as it fires. The promise goes on; what it comes
 * to then is not told.
 */
export function untilAborted<Value>(
  promise: PromiseLike<Value>,
  signal: AbortSignal,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const fire = (): void => reject(signal.reason)
    if (signal.aborted) fire()
    else signal.addEventListener('abort', fire, { once: true })
    const settle = (finish: () => void): void => {
      signal.removeEventListener('abort', fire)
      finish()
    }
    promise.then(
      (value) => settle(() => resolve(value)),
      (error: unknown) => settle(() => reject(error)),
    )
  })
}
