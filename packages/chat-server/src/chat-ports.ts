import type {
  Committer,
  DefinitionReference,
  JsonObject,
  Log,
  RecordReader,
  RunReader,
  StreamReader,
  Supervisors,
  System,
  Watcher,
} from '@holdfast/core'
import type { RunJournal } from './run-journal.ts'

/** What the chat server needs of a store. */
export type ChatStore = StreamReader & RecordReader & RunReader & Watcher & Committer

/** What to do with a message that comes while the chat's run is going. */
export type OnBusy = 'steer' | 'queue' | 'reject'

/**
 * Which definition answers in a chat. A function may choose by what was posted; runs that exist
 * keep theirs.
 */
export type AgentChoice =
  | DefinitionReference
  | ((request: {
      readonly sessionId: string
      readonly chatId: string
      /**
       * The POST's body, checked as JSON only. Empty for a turn that begins without one (a message
       * that waited).
       */
      readonly body: JsonObject
    }) => DefinitionReference | Promise<DefinitionReference>)

/** What everything about chats works with. */
export interface ChatPorts {
  readonly store: ChatStore
  readonly supervisors: Supervisors
  readonly journal: RunJournal
  readonly agent: AgentChoice
  readonly onBusy: OnBusy
  readonly system: System
  readonly log: Log
  readonly limits: {
    /** UTF-8 bytes of a person's message. */
    readonly messageBytes: number
    /**
     * UTF-8 bytes of a message that can be put in a run's inbox; a larger one waits for its own
     * turn.
     */
    readonly steeringBytes: number
    /** Messages of a chat that may wait. */
    readonly waitingMessages: number
  }
}
