import { readUIMessageStream } from 'ai'
import type { UIMessage, UIMessageChunk } from 'ai'
import type { JsonValue } from '@holdfast/core'

/** The message that a page shows for these chunks, by AI SDK's own reader. An error of the stream is thrown. */
export async function rendered(chunks: readonly JsonValue[]): Promise<UIMessage> {
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      // What the tests render was made as UI chunks, and the reader checks each.
      for (const chunk of chunks) controller.enqueue(chunk as unknown as UIMessageChunk)
      controller.close()
    },
  })
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: false }))
    last = message
  if (last === undefined) throw new Error('The chunks show no message.')
  return structuredClone(last)
}

export function chunkTypes(chunks: readonly JsonValue[]): readonly unknown[] {
  return chunks.map((chunk) =>
    typeof chunk === 'object' && chunk !== null && 'type' in chunk ? chunk['type'] : undefined,
  )
}
