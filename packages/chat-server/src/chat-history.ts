import type { RecordReader } from '@holdfast/core'
import { chatLog, decodeChatEntry, type MessageEntry, type TurnEntry } from './chat-record.ts'
import type { ChatState } from './chat-state.ts'

/** All that a chat's log says, by id. */
export interface ChatHistory {
  /** The newest edition of each message, in the order in which they first came. */
  readonly messages: ReadonlyMap<string, MessageEntry>
  /** In the order in which they began. */
  readonly turns: ReadonlyMap<string, TurnEntry>
  edition(messageId: string, edition: number): MessageEntry | undefined
}

const pageEntries = 1_000

/** Reads the whole log of a chat. */
export async function readChatHistory(store: RecordReader, state: ChatState): Promise<ChatHistory> {
  const messages = new Map<string, MessageEntry>()
  const editions = new Map<string, MessageEntry>()
  const turns = new Map<string, TurnEntry>()
  const log = chatLog(state.chatId, state.generation)
  let from = 0
  for (;;) {
    const page = await store.logPage(state.sessionId, log, { from, limit: pageEntries })
    for (const { value } of page.entries) {
      const entry = decodeChatEntry(value)
      if (entry.kind === 'turn') turns.set(entry.runId, entry)
      if (entry.kind !== 'message') continue
      messages.set(entry.messageId, entry)
      editions.set(`${entry.messageId} ${entry.edition}`, entry)
    }
    const last = page.entries.at(-1)
    if (last === undefined || last.sequence + 1 >= page.next) break
    from = last.sequence + 1
  }
  return {
    messages,
    turns,
    edition: (messageId, edition) => editions.get(`${messageId} ${edition}`),
  }
}

/** The turns of the branch that ends with a turn, oldest first. */
export function branchOf(history: ChatHistory, lastTurn: string | undefined): readonly TurnEntry[] {
  const branch: TurnEntry[] = []
  let next = lastTurn
  while (next !== undefined) {
    const turn = history.turns.get(next)
    if (turn === undefined) break
    branch.push(turn)
    next = turn.parent
  }
  return branch.toReversed()
}

/** The newest turn that answers a message. */
export function newestTurnFor(history: ChatHistory, messageId: string): TurnEntry | undefined {
  return [...history.turns.values()].findLast((turn) => turn.messageId === messageId)
}
