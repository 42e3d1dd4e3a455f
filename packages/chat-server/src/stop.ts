import {
  type Clock,
  ErrorCode,
  hasErrorCode,
  parseStreamId,
  type RunStatus,
  type StoredRun,
  type UnfencedWrite,
  visibleStatus,
} from '@holdfast/core'
import { isChatId } from './chat-id.ts'
import type { ChatPorts } from './chat-ports.ts'
import { chatOfRun, type ChatState, putChat, readChatState } from './chat-state.ts'
import { decideAgain } from './conflict.ts'
import { streamNotFound } from './not-found.ts'
import { newestStreamOf } from './stream-place.ts'
import { isActive } from './turn-decision.ts'
import { parseWholeStreamId } from './whole-stream.ts'

/** What a stop came to. */
export interface Stopped {
  /** The run that is being stopped, or had ended. Absent: the chat has none. */
  readonly runId?: string
  readonly streamId?: string
  readonly status: RunStatus | 'idle'
  /** Nothing was left to stop. */
  readonly alreadyEnded: boolean
}

const stopReason = 'stopped by the person'

/**
 * Stops what a run's, a stream's or a chat's id names: durable when it resolves. What was written stays, and every reader gets the
 * stream's end. Stopping what has ended is no error.
 *
 * Messages that wait in the chat are held back until the next one is sent. A turn that was promised and has not begun is withdrawn.
 *
 * @throws `stream_not_found`
 */
export async function stopByAnyId(
  ports: ChatPorts,
  sessionId: string,
  id: string,
): Promise<Stopped> {
  const { store, system } = ports
  return await decideAgain(system, async (commit) => {
    const runId = (parseWholeStreamId(id) ?? parseStreamId(id))?.runId
    if (runId !== undefined) {
      const run = await store.run(sessionId, runId)
      const chatId = await chatOfRun(store, sessionId, runId)
      const state = chatId === undefined ? undefined : await readChatState(store, sessionId, chatId)
      if (run !== undefined) return await commit(() => stopRun(ports, sessionId, run, state))
      if (state?.document !== undefined) {
        return await commit(() => withdraw(ports, state, runId))
      }
    }
    if (!isChatId(id)) throw streamNotFound()
    const state = await readChatState(store, sessionId, id)
    if (state.document === undefined) throw streamNotFound()
    const { turn } = state.document
    const run = turn === undefined ? undefined : await store.run(sessionId, turn)
    if (run === undefined) return { status: 'idle', alreadyEnded: true }
    return await commit(() => stopRun(ports, sessionId, run, state))
  })
}

async function stopRun(
  { store, supervisors, system }: ChatPorts,
  sessionId: string,
  run: StoredRun,
  state: ChatState | undefined,
): Promise<Stopped> {
  const { id: runId, status } = run.record
  const { streamId } = newestStreamOf(run)
  if (!isActive(run)) return { runId, streamId, status, alreadyEnded: true }
  const holds = state === undefined ? [] : holdWaiting(system, state, runId)
  try {
    const stopped = await supervisors
      .session(sessionId)
      .cancel({ runId, reason: stopReason, by: { kind: 'person' } }, { with: holds })
    // When it was being stopped already, nothing was written beside it.
    if (state !== undefined && holds.length > 0) {
      const after = holdWaiting(system, await readChatState(store, sessionId, state.chatId), runId)
      if (after.length > 0) await store.commit({ sessionId, writes: after })
    }
    return {
      runId,
      streamId: newestStreamOf(stopped.run).streamId,
      status: visibleStatus(stopped.run),
      alreadyEnded: stopped.alreadyCancelled,
    }
  } catch (error) {
    // It ended by itself in this moment, which is what was wanted.
    if (!hasErrorCode(error, ErrorCode.runEnded)) throw error
    return { runId, streamId, status: 'completed', alreadyEnded: true }
  }
}

/** Holds back what waits behind this run. No write where nothing is to be held. */
function holdWaiting(clock: Clock, state: ChatState, runId: string): readonly UnfencedWrite[] {
  const { document } = state
  if (document?.turn !== runId || document.waiting.every(({ held }) => held === true)) return []
  const waiting = document.waiting.map((one) => ({ ...one, held: true as const }))
  return [putChat(state, { ...document, waiting, updatedAt: clock.now() })]
}

async function withdraw(
  { store, system }: ChatPorts,
  state: ChatState,
  runId: string,
): Promise<Stopped> {
  const { document, sessionId } = state
  const isWaiting = document?.waiting.some(
    (waiting) => waiting.runId === runId && waiting.steers === undefined,
  )
  if (document === undefined || isWaiting !== true) {
    return { runId, status: 'cancelled', alreadyEnded: true }
  }
  const waiting = document.waiting.filter((one) => one.runId !== runId)
  const write = putChat(state, { ...document, waiting, updatedAt: system.now() })
  await store.commit({ sessionId, writes: [write] })
  return { runId, status: 'cancelled', alreadyEnded: false }
}
