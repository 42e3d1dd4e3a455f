import type { UiChunk } from '@holdfast/chat-protocol'
import { readUIMessageStream } from 'ai'
import type { UIMessage, UIMessageChunk } from 'ai'

/**
 * The message that AI SDK makes of chunks, as `useChat` does.
 *
 * @throws what makes a page show an error instead
 */
export async function sdkMessage(chunks: readonly UiChunk[]): Promise<UIMessage> {
  let message: UIMessage = { id: '', role: 'assistant', parts: [] }
  let failure: unknown
  const states = readUIMessageStream({
    stream: new ReadableStream<UIMessageChunk>({
      start(controller) {
        // The chunk types are the same on the wire; AI SDK's have mutable fields.
        for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk)
        controller.close()
      },
    }),
    onError: (error) => {
      failure ??= error
    },
  })
  for await (const state of states) message = state
  if (failure !== undefined) throw failure
  return message
}

/** All text of a message, in order. */
export function textOfMessage(message: Pick<UIMessage, 'parts'>): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
