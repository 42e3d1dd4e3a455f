import type { JsonValue, WorkflowContext } from '@holdfast/core'
import { boundedChunks } from './bounded-chunk.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { Operations } from './operations.ts'
import { plainObject } from './plain-json.ts'
import { toUIMessageChunk } from './to-ui-chunk.ts'
import type { UiChunkOptions } from './to-ui-chunk.ts'

/** What durable operations need. */
export interface DurableOperationsOptions {
  readonly context: WorkflowContext<never> | WorkflowContext
  /** Whether parts go to the run's stream. */
  readonly streaming: boolean
  readonly chunks: UiChunkOptions
}

/**
 * Operations of a durable run: each is one of its context, so that after a crash it is told and not done again.
 *
 * Steps are never repeated by the engine for a failure: a model call has its retries inside, a tool's failure is a
 * result. Only a crash runs a body again.
 */
export function durableOperations(options: DurableOperationsOptions): Operations {
  const { context, streaming } = options
  const chunksOf = (parts: readonly ModelCallStreamPart[]): readonly JsonValue[] =>
    streaming ? parts.flatMap((part) => storedChunk(part, options.chunks)) : []
  return {
    callId: context.run.id,
    runId: context.run.id,
    streaming,
    takesBack: true,
    leavesTools: false,
    now: () => context.now(),
    async step(operation) {
      const stored = await context.step(
        operation.key,
        async ({ idempotencyKey, signal, output }) => {
          const result = await operation.run({
            idempotencyKey,
            signal,
            hasEarlierParts: output.hasEarlierChunks,
            async emit(part) {
              for (const chunk of chunksOf([part])) await output.write(chunk)
            },
          })
          return operation.codec.encode(result)
        },
        { label: operation.label, retries: 0 },
      )
      return operation.codec.decode(stored)
    },
    async ask(question) {
      const { key, reason, payload, schema } = question
      let questionId = ''
      const value = await context.interrupt<JsonValue>(key, {
        reason,
        payload,
        schema,
        answer: 'person',
        output(interruptId) {
          questionId = interruptId
          return chunksOf(question.parts(interruptId))
        },
      })
      return { questionId, value }
    },
    async emit(key, parts) {
      const chunks = chunksOf(parts)
      if (chunks.length > 0) await context.output(key, chunks)
    },
    messages: () => context.messages(),
    aborted: () => undefined,
  }
}

function storedChunk(part: ModelCallStreamPart, options: UiChunkOptions): readonly JsonValue[] {
  const chunk = toUIMessageChunk(part, options)
  return chunk === undefined ? [] : boundedChunks(plainObject(chunk))
}
