import type { SessionId } from './ids.ts'
import type { JsonObject, JsonValue } from './json-value.ts'
import type { RunStatus } from './run.ts'

/** One turn of a chat: a person's message and the run that answers it. */
export interface ConversationTurn {
  readonly messageId: string
  /** An AI SDK UI message (role `user`). */
  readonly message: JsonObject
  readonly runId: string
  readonly status: RunStatus
  /** What the run returned, if it ended with something. */
  readonly output?: JsonValue
}

/** Input of a run that answers a message of a chat. */
export interface TurnInput {
  readonly chatId: string
  readonly messageId: string
}

/** Reads a chat that the server keeps, for the agent that answers in it. */
export interface ConversationReader {
  /**
   * The turns of the chat's live branch, oldest first, through the one of this message.
   *
   * @throws `chat_not_found`, `message_invalid` when the chat has no such message
   */
  turns(sessionId: SessionId, input: TurnInput): Promise<readonly ConversationTurn[]>
}
