// One call of the transport, from its first request to its end.
//
// Owns:  the signal of all its requests, the one report of its end.
// Asks:  the generator of chunks, only when the page reads.
// Never: stops the run.
//
// C1. `onEnd` is called exactly once, whether the end comes from the server, an error, the page's
//     signal or its reader.
// C2. Once it has ended, every connection of it is closed.
// C3. An abort ends it at once, even while the page reads nothing.

import { isTerminalChunk, type UiChunk } from '@holdfast/chat-protocol'
import type { ChatOutcome } from './connection.ts'
import type { ReaderState } from './follow-stream.ts'

/** What a session tells. */
export interface ChatSessionOptions {
  /** The page's signal. */
  readonly abortSignal: AbortSignal | undefined
  /** Must not reject. */
  readonly onEnd: (outcome: ChatOutcome, chunkIndex: number) => Promise<void>
}

/** One call of the transport. */
export interface ChatSession {
  /** Aborted when the page lets go, and when the session has ended. */
  readonly signal: AbortSignal
  readonly state: ReaderState
  /**
   * Closes every connection and reports the end, the first time that it is called; resolves once
   * that is reported.
   */
  end(outcome: ChatOutcome): Promise<void>
  /** Closes every connection and reports nothing: there was no chat to follow. */
  dismiss(): void
}

/** Begins a session. */
export function createChatSession({ abortSignal, onEnd }: ChatSessionOptions): ChatSession {
  const connections = new AbortController()
  const state: ReaderState = { cursor: 0 }
  let ending: Promise<void> | undefined

  function onAbort(): void {
    connections.abort(abortSignal?.reason)
  }

  function close(): void {
    abortSignal?.removeEventListener('abort', onAbort)
    connections.abort()
  }

  if (abortSignal?.aborted === true) onAbort()
  else abortSignal?.addEventListener('abort', onAbort, { once: true })

  return {
    signal: connections.signal,
    state,
    end(outcome) {
      if (ending === undefined) {
        close()
        ending = onEnd(outcome, state.cursor)
      }
      return ending
    },
    dismiss() {
      close()
      ending ??= Promise.resolve()
    },
  }
}

/** The chunks of a session as a stream. The session ends with it, before it closes. */
export function chatStream(
  session: ChatSession,
  chunks: AsyncGenerator<UiChunk, void, undefined>,
): ReadableStream<UiChunk> {
  const { signal, state } = session
  let isOpen = true
  let onAbort: () => void = () => undefined

  /** Ends the stream's life, once: false if somebody else has. */
  function claimEnd(): boolean {
    if (!isOpen) return false
    isOpen = false
    signal.removeEventListener('abort', onAbort)
    return true
  }

  async function letGo(): Promise<void> {
    void chunks.return()
    await session.end(state.outcome ?? 'disconnected')
  }

  return new ReadableStream<UiChunk>(
    {
      start(controller) {
        onAbort = () => {
          if (!claimEnd()) return
          void letGo()
          controller.close()
        }
        signal.addEventListener('abort', onAbort, { once: true })
        if (signal.aborted) onAbort()
      },
      async pull(controller) {
        let next: IteratorResult<UiChunk, void>
        try {
          next = await chunks.next()
        } catch (error) {
          if (!claimEnd()) return
          await session.end('failed')
          controller.error(error)
          return
        }
        if (!isOpen) return
        if (next.done !== true) {
          controller.enqueue(next.value)
          if (!isTerminalChunk(next.value)) return
        }
        claimEnd()
        await letGo()
        controller.close()
      },
      async cancel() {
        if (claimEnd()) await letGo()
      },
    },
    { highWaterMark: 0 },
  )
}
