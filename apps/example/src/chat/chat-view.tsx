import { useState } from 'react'
import { ChatPane } from './chat-pane.tsx'
import type { Connection } from './open-chat-state.ts'
import { useOpenChat } from './use-open-chat.ts'

/** What the middle of the page needs. */
export interface ChatViewProps {
  readonly chatId: string
  readonly isNew: boolean
  readonly isDemo: boolean
  readonly onAccepted: (chatId: string) => void
  readonly onWorkDone: () => void
  readonly onConnection: (connection: Connection) => void
  readonly onNew: () => void
}

/** The chat that was asked for, or why it is not there. */
export function ChatView(props: ChatViewProps) {
  const [attempt, setAttempt] = useState(1)
  return (
    <OneOpening
      key={`${props.chatId} ${attempt}`}
      {...props}
      onRetry={() => setAttempt((before) => before + 1)}
    />
  )
}

function OneOpening(props: ChatViewProps & { readonly onRetry: () => void }) {
  const { chatId, isNew, isDemo, onAccepted, onWorkDone, onConnection, onNew, onRetry } = props
  const opening = useOpenChat({ chatId, isNew, onAccepted })
  switch (opening.state) {
    case 'loading':
      return (
        <div className="chat-empty" aria-busy="true">
          <span className="spinner" aria-hidden="true" />
          <span className="visually-hidden">Loading the chat…</span>
        </div>
      )
    case 'open':
      return (
        <ChatPane
          open={opening.open}
          isDemo={isDemo}
          onWorkDone={onWorkDone}
          onConnection={onConnection}
        />
      )
    case 'missing':
      return (
        <div className="chat-empty" role="alert">
          <h2>There is no such chat here</h2>
          <p>It was deleted, or it belongs to another browser.</p>
          <button type="button" className="button button-primary" onClick={onNew}>
            Begin a new chat
          </button>
        </div>
      )
    case 'failed':
      return (
        <div className="chat-empty" role="alert">
          <h2>The chat could not be opened</h2>
          <p>{opening.message}</p>
          <button type="button" className="button button-primary" onClick={onRetry}>
            Try again
          </button>
        </div>
      )
  }
}
