// #region page
import { useChat } from '@ai-sdk/react'
import { WorkflowChatTransport } from '@holdfast/chat-client'

const transport = new WorkflowChatTransport({ api: '/api/chat' })

export function Chat({ id }: { readonly id: string }) {
  const { messages, sendMessage } = useChat({ id, transport, resume: true })
  return (
    <>
      {messages.map(({ id: key, parts }) => (
        <p key={key}>{parts.map((part) => (part.type === 'text' ? part.text : ''))}</p>
      ))}
      <button onClick={() => void sendMessage({ text: 'Where is order 1001?' })}>Ask</button>
      <button onClick={() => void transport.stop({ chatId: id })}>Stop</button>
    </>
  )
}
// #endregion page
