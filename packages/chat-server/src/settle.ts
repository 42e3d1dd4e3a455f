import {
  hasErrorCode,
  ErrorCode,
  inboxOf,
  isTerminal,
  messageKey,
  type StoredRun,
  streamIdOf,
  type UnfencedWrite,
} from '@holdfast/core'
import { canonicalBytes } from '@holdfast/json'
import { parseUiChunk } from '@holdfast/chat-protocol'
import type { ChatPorts } from './chat-ports.ts'
import {
  type ChatDocument,
  chatRecordVersion,
  type TurnEntry,
  type WaitingMessage,
} from './chat-record.ts'
import {
  appendEntry,
  appendTurnOwner,
  type ChatState,
  putChat,
  readChatState,
  readMessage,
} from './chat-state.ts'
import { chooseDefinition } from './choose-definition.ts'
import { decideAgain } from './conflict.ts'

/** What settling found. */
export type Settled =
  /** Nothing waits, or what waits is held back by a stop. */
  | { readonly kind: 'idle' }
  /** Messages wait for the end of this run. */
  | { readonly kind: 'waiting'; readonly runId: string }

/**
 * Makes the next turn of what came too late for the last one: if the chat's run has ended, the first of the messages that it never
 * got, or that waited for it, becomes a turn with the run that its sender was promised.
 *
 * Whoever calls it, and however often, each message becomes one turn at most: the turn and the document are one commit.
 */
export async function settleChat(
  ports: ChatPorts,
  sessionId: string,
  chatId: string,
): Promise<Settled> {
  const { store, supervisors, system } = ports
  return await decideAgain(system, async (commit) => {
    const state = await readChatState(store, sessionId, chatId)
    const { document } = state
    if (document === undefined || document.waiting.length === 0) return { kind: 'idle' }
    const { turn } = document
    const run = turn === undefined ? undefined : await store.run(sessionId, turn)
    if (run !== undefined && !isTerminal(run.record.status)) {
      return { kind: 'waiting', runId: run.record.id }
    }
    const waiting = await stillWaiting(ports, sessionId, document)
    const next = waiting.find(({ held }) => held !== true)
    if (next === undefined) {
      if (waiting.length < document.waiting.length) {
        const writes = [putChat(state, { ...document, waiting })]
        await commit(() => store.commit({ sessionId, writes }))
      }
      return { kind: 'idle' }
    }
    const rest = waiting.filter((one) => one !== next)
    const entry = await turnOf(ports, state, next)
    const now = system.now()
    const writes: UnfencedWrite[] = [
      putChat(state, { ...document, turn: next.runId, waiting: rest, updatedAt: now }),
      appendEntry(state, entry),
      appendTurnOwner(state, next.runId),
    ]
    const { messageId } = next
    const definition = await chooseDefinition(ports, sessionId, chatId, {})
    await commit(() =>
      supervisors
        .session(sessionId)
        .start({ id: next.runId, definition }, canonicalBytes({ chatId, messageId }), {
          with: writes,
        }),
    )
    return rest.length === 0 ? { kind: 'idle' } : { kind: 'waiting', runId: next.runId }
  })
}

async function turnOf(
  { store, system }: ChatPorts,
  state: ChatState,
  { messageId, runId }: WaitingMessage,
): Promise<TurnEntry> {
  const message = await readMessage(store, state, messageId)
  const parent = state.document?.turn
  return {
    kind: 'turn',
    version: chatRecordVersion,
    runId,
    messageId,
    edition: message?.edition ?? 1,
    at: system.now(),
    ...(parent === undefined ? {} : { parent }),
  }
}

/** What no run has taken up. The run that each was sent to has ended. */
async function stillWaiting(
  ports: ChatPorts,
  sessionId: string,
  { waiting }: ChatDocument,
): Promise<readonly WaitingMessage[]> {
  const left: WaitingMessage[] = []
  for (const one of waiting) {
    const { steers, messageId } = one
    if (steers === undefined || !(await wasTaken(ports, sessionId, steers, messageId))) {
      left.push(one)
    }
  }
  return left
}

async function wasTaken(
  { store, journal }: ChatPorts,
  sessionId: string,
  runId: string,
  messageId: string,
): Promise<boolean> {
  const run = await store.run(sessionId, runId)
  if (run === undefined) return false
  const sent = await store.logEntry(sessionId, inboxOf(runId), messageKey(messageId))
  if (sent === undefined) return false
  const late = await journal.undelivered(sessionId, runId)
  if (late.includes(messageId)) return false
  // A run that completed has seen all that was delivered. One that was stopped may have had no time to look.
  return run.record.status === 'completed' || (await isInStreams(store, sessionId, run, messageId))
}

const pageChunks = 1_000

/** Whether one of the run's streams says that the message was taken up. */
async function isInStreams(
  store: ChatPorts['store'],
  sessionId: string,
  run: StoredRun,
  messageId: string,
): Promise<boolean> {
  const { id, stream } = run.record
  for (let number = 1; number <= stream; number += 1) {
    const streamId = streamIdOf(id, number)
    try {
      for (let from = 0; ;) {
        const page = await store.streamPage(sessionId, streamId, { from, limit: pageChunks })
        if (page === undefined || page.chunks.length === 0) break
        const isHere = page.chunks.some(({ data }) => {
          const chunk = parseUiChunk(data)
          return chunk.type === 'steering-message' && chunk.id === messageId
        })
        if (isHere) return true
        from += page.chunks.length
      }
    } catch (error) {
      if (!hasErrorCode(error, ErrorCode.streamGone)) throw error
    }
  }
  return false
}
