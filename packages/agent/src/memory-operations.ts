import type { System } from '@holdfast/core'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { Operations } from './operations.ts'

/** What operations in memory need. */
export interface MemoryOperationsOptions {
  readonly callId: string
  readonly streaming: boolean
  readonly takesBack: boolean
  readonly signal: AbortSignal
  readonly system: System
  readonly emit: (part: ModelCallStreamPart) => Promise<void>
}

/** Operations of a call that keeps nothing: bodies run where they stand, and nobody can be asked. */
export function memoryOperations(options: MemoryOperationsOptions): Operations {
  const { callId, streaming, takesBack, signal, system, emit } = options
  return {
    callId,
    runId: undefined,
    ask: undefined,
    streaming,
    takesBack,
    leavesTools: true,
    now: () => system.now(),
    step: (operation) =>
      operation.run({
        idempotencyKey: `${callId}/${operation.key}`,
        signal,
        hasEarlierParts: false,
        emit,
      }),
    async emit(_key, parts) {
      for (const part of parts) await emit(part)
    },
    messages: () => [],
    aborted: () => (signal.aborted ? { reason: signal.reason } : undefined),
  }
}
