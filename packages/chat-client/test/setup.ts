import type { UIMessage } from 'ai'
import {
  type ChatEndEvent,
  type ConnectionChange,
  WorkflowChatTransport,
  type WorkflowChatTransportOptions,
} from '../src/index.ts'
import { createManualSystem } from './manual-system.ts'
import { type Reply, scriptedFetch } from './scripted-fetch.ts'

export const question: UIMessage = {
  id: 'question',
  role: 'user',
  parts: [{ type: 'text', text: 'When is low tide?' }],
}

/** A transport over scripted replies, and everything that it told. */
export function setUp(
  replies: readonly Reply[],
  options: WorkflowChatTransportOptions<UIMessage> = {},
) {
  const server = scriptedFetch(...replies)
  const system = createManualSystem()
  const ends: ChatEndEvent[] = []
  const changes: ConnectionChange[] = []
  const transport = new WorkflowChatTransport<UIMessage>({
    fetch: server.fetch,
    system,
    onChatEnd: (event) => {
      ends.push(event)
    },
    onConnectionChange: (change) => {
      changes.push(change)
    },
    ...options,
  })
  const post = (call: Partial<Parameters<typeof transport.sendMessages>[0]> = {}) =>
    transport.sendMessages({
      chatId: 'chat',
      trigger: 'submit-message',
      messageId: undefined,
      messages: [question],
      abortSignal: undefined,
      ...call,
    })
  return { server, system, ends, changes, transport, post }
}
