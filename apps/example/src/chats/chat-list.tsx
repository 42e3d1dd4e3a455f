import { useState } from 'react'
import { Icon } from '../shell/icon.tsx'
import { useNow } from '../shell/use-now.ts'
import { pathOfChat } from '../shell/use-route.ts'
import type { ChatSummary } from './chat-api.ts'
import { timeAgo } from './time-ago.ts'
import type { ChatList as Chats } from './use-chat-list.ts'

/** What the list of chats needs. */
export interface ChatListProps {
  readonly list: Chats
  readonly selected: string | undefined
  readonly onNew: () => void
  readonly onSelect: (chatId: string) => void
  readonly onForgotten: (chatId: string) => void
}

/** The chats of this browser: begin one, go to one, forget one. */
export function ChatList({ list, selected, onNew, onSelect, onForgotten }: ChatListProps) {
  const { chats, isLoading, problem, showMore } = list

  async function forget(chatId: string): Promise<void> {
    if (await list.forget(chatId)) onForgotten(chatId)
  }

  return (
    <nav className="chat-list" aria-label="chat list">
      <button type="button" className="button button-wide" onClick={onNew}>
        <Icon name="plus" />
        New chat
      </button>
      {problem !== undefined && <p className="chat-list-note">{problem}</p>}
      {chats.length === 0 && problem === undefined && (
        <p className="chat-list-note">
          {isLoading ? 'Loading…' : 'Your chats will be listed here.'}
        </p>
      )}
      <ul>
        {chats.map((chat) => (
          <ChatListItem
            key={chat.id}
            chat={chat}
            isSelected={chat.id === selected}
            onSelect={() => onSelect(chat.id)}
            onForget={() => void forget(chat.id)}
          />
        ))}
      </ul>
      {showMore !== undefined && (
        <button type="button" className="button button-quiet button-wide" onClick={showMore}>
          Older chats
        </button>
      )}
    </nav>
  )
}

interface ChatListItemProps {
  readonly chat: ChatSummary
  readonly isSelected: boolean
  readonly onSelect: () => void
  readonly onForget: () => void
}

const activityWords = { idle: '', working: 'answering', asking: 'waits for you' } as const

function ChatListItem({ chat, isSelected, onSelect, onForget }: ChatListItemProps) {
  const [isAsking, setIsAsking] = useState(false)
  const { id, title, updatedAt, activity } = chat
  const now = useNow()
  if (isAsking) {
    return (
      <li className="chat-item chat-item-asking">
        <p>Delete “{title}”? It cannot be undone.</p>
        <div className="button-row">
          <button
            type="button"
            className="button button-danger button-small"
            onClick={onForget}
            autoFocus
          >
            Delete for good
          </button>
          <button
            type="button"
            className="button button-quiet button-small"
            onClick={() => setIsAsking(false)}
          >
            Keep
          </button>
        </div>
      </li>
    )
  }
  return (
    <li className={`chat-item${isSelected ? ' is-selected' : ''}`}>
      <a
        href={pathOfChat(id)}
        aria-current={isSelected ? 'page' : undefined}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
          event.preventDefault()
          onSelect()
        }}
      >
        <span className="chat-item-title">{title}</span>
        <span className={`chat-item-meta${activity === 'asking' ? ' is-asking' : ''}`}>
          {activity === 'idle' ? timeAgo(updatedAt, now) : activityWords[activity]}
        </span>
      </a>
      <button
        type="button"
        className="icon-button chat-item-delete"
        aria-label={`Delete chat ${title}`}
        title="Delete"
        onClick={() => setIsAsking(true)}
      >
        <Icon name="trash" />
      </button>
    </li>
  )
}
