// Sees to it that what waits in a chat comes to its turn.
//
// Owns:  one watch for each chat of this process in which messages wait.
// Asks:  `settleChat` to decide; the store to tell when a run has changed.
// Never: decides by itself, keeps a watch of a chat in which nothing waits.
//
// W1. Settling is a decision of its own, so two processes may watch one chat.
// W2. A watch that failed is begun again by the next request for its chat.
import type { ChatPorts } from './chat-ports.ts'
import { settleChat, type Settled } from './settle.ts'

/** Settles chats now and when their runs end. */
export interface ChatSettler {
  /** Settles a chat, and goes on doing so in the background while messages wait in it. */
  settle(sessionId: string, chatId: string): Promise<Settled>
  /** Ends all watches. */
  stop(): void
}

/** Creates a settler. */
export function createChatSettler(ports: ChatPorts): ChatSettler {
  const { store, log } = ports
  const stopped = new AbortController()
  const watched = new Set<string>()

  async function settle(sessionId: string, chatId: string): Promise<Settled> {
    const settled = await settleChat(ports, sessionId, chatId)
    if (settled.kind === 'waiting') watch(sessionId, chatId, settled.runId)
    return settled
  }

  function watch(sessionId: string, chatId: string, runId: string): void {
    const key = `${sessionId}/${chatId}`
    if (watched.has(key) || stopped.signal.aborted) return
    watched.add(key)
    void follow(sessionId, chatId, runId)
      .catch((cause: unknown) => {
        if (stopped.signal.aborted) return
        log.write({
          level: 'warn',
          event: 'chat_server.settle.failed',
          message: 'A chat’s waiting messages could not be looked after; its next request will.',
          fields: { chat_id: chatId },
          cause,
        })
      })
      .finally(() => watched.delete(key))
  }

  async function follow(sessionId: string, chatId: string, firstRun: string): Promise<void> {
    let runId: string | undefined = firstRun
    while (runId !== undefined && !stopped.signal.aborted) {
      runId = await afterRun(sessionId, chatId, runId)
    }
  }

  /** The run to wait for next, once this one has ended. */
  async function afterRun(
    sessionId: string,
    chatId: string,
    runId: string,
  ): Promise<string | undefined> {
    const topic = { kind: 'run', sessionId, runId } as const
    const one = new AbortController()
    const signal = AbortSignal.any([one.signal, stopped.signal])
    try {
      for await (const _ of store.watch(topic, signal)) {
        const settled = await settleChat(ports, sessionId, chatId)
        if (settled.kind === 'idle') return undefined
        if (settled.runId !== runId) return settled.runId
      }
      return undefined
    } finally {
      one.abort()
    }
  }

  return { settle, stop: () => stopped.abort() }
}
