import { useEffect, useRef, useState } from 'react'
import { RequestError } from '../api/request.ts'
import { loadChat } from '../chats/chat-api.ts'
import { OpenChat } from './open-chat.ts'

/** How far a chat's opening is. */
export type ChatOpening =
  | { readonly state: 'loading' }
  | { readonly state: 'open'; readonly open: OpenChat }
  /** The session has no such chat. */
  | { readonly state: 'missing' }
  | { readonly state: 'failed'; readonly message: string }

/** Which chat to open. */
export interface OpenChatRequest {
  readonly chatId: string
  /** The server has not heard of it yet. */
  readonly isNew: boolean
  readonly onAccepted: (chatId: string) => void
}

/**
 * Opens a chat with its messages and takes up the answer that is being written; closes it with the component. For another chat, or
 * another try, the component is given another key.
 */
export function useOpenChat({ chatId, isNew, onAccepted }: OpenChatRequest): ChatOpening {
  const [opening, setOpening] = useState<ChatOpening>({ state: 'loading' })
  const latestOnAccepted = useRef(onAccepted)
  useEffect(() => {
    latestOnAccepted.current = onAccepted
  })

  useEffect(() => {
    const leaving = new AbortController()
    let opened: OpenChat | undefined

    async function open(): Promise<void> {
      const contents = isNew ? undefined : await loadChat(chatId, { signal: leaving.signal })
      if (leaving.signal.aborted) return
      opened = new OpenChat({
        id: chatId,
        ...(contents === undefined ? {} : { contents }),
        onAccepted: () => latestOnAccepted.current(chatId),
      })
      setOpening({ state: 'open', open: opened })
      await opened.begin()
    }

    open().catch((error: unknown) => {
      if (leaving.signal.aborted) return
      const isMissing = error instanceof RequestError && error.status === 404
      setOpening(isMissing ? { state: 'missing' } : { state: 'failed', message: messageOf(error) })
    })
    return () => {
      leaving.abort()
      opened?.dispose()
    }
  }, [chatId, isNew])

  return opening
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'The chat could not be opened.'
}
