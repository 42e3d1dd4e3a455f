// #region transport
import { WorkflowChatTransport } from '@holdfast/chat-client'

/** For `useChat({ transport })`, or alone: the words of an answer, through every cut connection. */
export async function ask(api: string, chatId: string, text: string): Promise<string> {
  const transport = new WorkflowChatTransport({ api })
  const messages = [{ id: 'm1', role: 'user' as const, parts: [{ type: 'text' as const, text }] }]
  const chunks = await transport.sendMessages({ trigger: 'submit-message', chatId, messages })
  let words = ''
  for await (const chunk of chunks) if (chunk.type === 'text-delta') words += chunk.delta
  return words
}
// #endregion transport
