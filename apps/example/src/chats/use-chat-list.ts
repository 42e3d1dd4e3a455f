import { useCallback, useEffect, useRef, useState } from 'react'
import { usePageVisible } from '../shell/use-page-visible.ts'
import { type ChatSummary, deleteChat, loadChats } from './chat-api.ts'

/** The chats as the list shows them. */
export interface ChatList {
  readonly chats: readonly ChatSummary[]
  readonly isLoading: boolean
  /** Absent: all is well. */
  readonly problem?: string
  /** Reads the list anew. */
  readonly refresh: () => void
  /** Reads older chats. Absent: there are none. */
  readonly showMore?: () => void
  /** Forgets a chat; resolves with whether that went well. */
  readonly forget: (chatId: string) => Promise<boolean>
}

const retryMs = 4_000

/** The session's chats, read at the start, when the page is seen again and when asked for. */
export function useChatList(): ChatList {
  const [chats, setChats] = useState<readonly ChatSummary[]>([])
  const [after, setAfter] = useState<string>()
  const [isLoading, setIsLoading] = useState(true)
  const [problem, setProblem] = useState<string>()
  const isVisible = usePageVisible()
  const reading = useRef<{ stop: () => void }>(undefined)

  const refresh = useCallback(() => {
    reading.current?.stop()
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    reading.current = {
      stop() {
        leaving.abort()
        clearTimeout(timer)
      },
    }

    async function read(): Promise<void> {
      try {
        const page = await loadChats(undefined, leaving.signal)
        setChats((before) => [...page.chats, ...olderThan(page.chats, page.after, before)])
        setAfter((before) => (before === undefined ? page.after : before))
        setProblem(undefined)
      } catch (error) {
        if (leaving.signal.aborted) return
        setProblem(textOfError(error))
        timer = setTimeout(() => void read(), retryMs)
      }
      setIsLoading(false)
    }

    void read()
  }, [])

  useEffect(() => {
    if (!isVisible) return
    refresh()
    return () => reading.current?.stop()
  }, [isVisible, refresh])

  const showMore = useCallback(async () => {
    try {
      const page = await loadChats(after)
      setChats((before) => merged(before, page.chats))
      setAfter(page.after)
    } catch (error) {
      setProblem(textOfError(error))
    }
  }, [after])

  const forget = useCallback(async (chatId: string) => {
    try {
      await deleteChat(chatId)
      setChats((before) => before.filter(({ id }) => id !== chatId))
      setProblem(undefined)
      return true
    } catch (error) {
      setProblem(textOfError(error))
      return false
    }
  }, [])

  return {
    chats,
    isLoading,
    refresh,
    forget,
    ...(problem === undefined ? {} : { problem }),
    ...(after === undefined ? {} : { showMore: () => void showMore() }),
  }
}

/** What was read before and lies beyond the first page: older than all of it, and only when there is more. */
function olderThan(
  page: readonly ChatSummary[],
  after: string | undefined,
  before: readonly ChatSummary[],
): readonly ChatSummary[] {
  const last = page.at(-1)
  if (after === undefined || last === undefined) return []
  const known = new Set(page.map(({ id }) => id))
  return before.filter(({ id, updatedAt }) => updatedAt <= last.updatedAt && !known.has(id))
}

function merged(
  before: readonly ChatSummary[],
  added: readonly ChatSummary[],
): readonly ChatSummary[] {
  const known = new Set(before.map(({ id }) => id))
  return [...before, ...added.filter(({ id }) => !known.has(id))]
}

function textOfError(error: unknown): string {
  return error instanceof Error ? error.message : 'The chats could not be read.'
}
