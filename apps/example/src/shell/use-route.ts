import { useCallback, useSyncExternalStore } from 'react'

const changed = 'holdfast:route'

/** The chat that a path names; `undefined` for the start page and anything else. */
export function chatIdFromPath(path: string): string | undefined {
  return /^\/chat\/([A-Za-z0-9_-]{1,64})\/?$/.exec(path)?.[1]
}

/** The path of a chat, or of the start page. */
export function pathOfChat(chatId: string | undefined): string {
  return chatId === undefined ? '/' : `/chat/${chatId}`
}

/** Where the page is, and how it goes elsewhere: `push` can be gone back from, `replace` cannot. */
export function useRoute(): {
  readonly chatId: string | undefined
  readonly go: (chatId: string | undefined, how?: 'push' | 'replace') => void
} {
  const path = useSyncExternalStore(subscribe, () => location.pathname)
  const go = useCallback((chatId: string | undefined, how: 'push' | 'replace' = 'push') => {
    const target = pathOfChat(chatId)
    if (target === location.pathname) return
    if (how === 'push') history.pushState(undefined, '', target)
    else history.replaceState(undefined, '', target)
    dispatchEvent(new Event(changed))
  }, [])
  return { chatId: chatIdFromPath(path), go }
}

function subscribe(onChange: () => void): () => void {
  addEventListener('popstate', onChange)
  addEventListener(changed, onChange)
  return () => {
    removeEventListener('popstate', onChange)
    removeEventListener(changed, onChange)
  }
}
