import type { ToolSet } from '@ai-sdk/provider-utils'
import type { StreamTextTransform } from 'ai'
import type { ModelCallStreamPart } from './model-call-part.ts'

/** Changes what readers get of a model's output, as AI SDK's `smoothStream` does. */
export type PartTransform<TOOLS extends ToolSet = ToolSet> = StreamTextTransform<TOOLS>

/** The transforms of one model call's attempt. */
export interface TransformedParts {
  readonly write: (part: ModelCallStreamPart) => Promise<void>
  /** Lets out what the transforms still hold, and resolves when it has been written. */
  end(): Promise<void>
  /** Lets go of them without a word. */
  drop(reason: unknown): void
}

/**
 * Puts transforms between a model call and its reader. Each attempt has its own, so that what a call holds back is out
 * before its tools' results are. What is recorded, and what the model gets back, is not touched.
 */
export function transformedParts(
  transforms: readonly PartTransform[],
  emit: (part: ModelCallStreamPart) => Promise<void>,
  options: { readonly tools: ToolSet; readonly stopStream: () => void },
): TransformedParts {
  const entry = new TransformStream<ModelCallStreamPart, ModelCallStreamPart>()
  let stream: ReadableStream<unknown> = entry.readable
  for (const transform of transforms) {
    // AI SDK's transforms know parts by their `type`; those that they do not know they pass.
    const applied = transform({ ...options }) as unknown as TransformStream<unknown, unknown>
    stream = stream.pipeThrough(applied)
  }
  const writer = entry.writable.getWriter()
  void writer.closed.catch(() => undefined)
  const done = stream.pipeTo(
    new WritableStream({ write: (part) => emit(part as ModelCallStreamPart) }),
  )
  void done.catch(() => undefined)
  return {
    // Whatever breaks behind it rejects the next write.
    write: (part) => Promise.race([writer.write(part), done]),
    async end() {
      void writer.close().catch(() => undefined)
      await done
    },
    drop(reason) {
      void writer.abort(reason).catch(() => undefined)
    },
  }
}
