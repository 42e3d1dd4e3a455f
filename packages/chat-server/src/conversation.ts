import {
  type ConversationReader,
  type ConversationTurn,
  ErrorCode,
  HoldfastError,
  isTerminal,
  type RecordReader,
  type RunReader,
  type Supervisors,
} from '@holdfast/core'
import { branchOf, type ChatHistory, newestTurnFor, readChatHistory } from './chat-history.ts'
import type { TurnEntry } from './chat-record.ts'
import { readChatState } from './chat-state.ts'
import { chatNotFound } from './not-found.ts'

/** What a conversation is read from. */
export interface ConversationReaderOptions {
  readonly store: RecordReader & RunReader
  readonly supervisors: Supervisors
}

/** How many runs are read at once. */
const readsAtOnce = 16

/**
 * Creates a reader of the chats that {@link createChatHandler} keeps.
 *
 * The turns are those of the branch through the newest turn that answers the message: what was
 * edited or made anew is not among them. Messages that were steered into a run are part of that
 * run's output. A turn whose run has not ended has no output.
 */
export function createConversationReader({
  store,
  supervisors,
}: ConversationReaderOptions): ConversationReader {
  return {
    async turns(sessionId, { chatId, messageId }) {
      const state = await readChatState(store, sessionId, chatId)
      if (state.document === undefined) throw chatNotFound()
      const history = await readChatHistory(store, state)
      const newest = newestTurnFor(history, messageId)
      if (newest === undefined) {
        throw new HoldfastError(ErrorCode.messageInvalid, {
          message: 'The chat has no turn for this message.',
        })
      }
      const branch = branchOf(history, newest.runId)
      const turns: ConversationTurn[] = []
      for (let at = 0; at < branch.length; at += readsAtOnce) {
        const some = branch.slice(at, at + readsAtOnce)
        const read = await Promise.all(
          some.map((turn) => readConversationTurn(sessionId, history, turn)),
        )
        turns.push(...read.filter((turn) => turn !== undefined))
      }
      return turns
    },
  }

  /** Absent for a turn whose run was purged. */
  async function readConversationTurn(
    sessionId: string,
    history: ChatHistory,
    turn: TurnEntry,
  ): Promise<ConversationTurn | undefined> {
    const { runId, messageId, edition } = turn
    const message = history.edition(messageId, edition)?.message
    const run = await store.run(sessionId, runId)
    if (run === undefined || message === undefined) return undefined
    const { status } = run.record
    const output = isTerminal(status)
      ? await supervisors.session(sessionId).output(runId)
      : undefined
    return { messageId, message, runId, status, ...(output === undefined ? {} : { output }) }
  }
}
