// What a crash run saw, as plain data: the verdict is a function of it and of nothing else.
import type { UiChunk } from '@holdfast/chat-protocol'

/** Everything that one crash run saw. */
export interface CrashRecord {
  readonly kills: number
  /** Kills that hit at least one acknowledged run which had not ended and waited for nobody. */
  readonly killsInFlight: number
  readonly seconds: number
  /** Connections that a reader opened again after a cut. */
  readonly reconnects: number
  readonly chats: readonly ChatEvidence[]
  readonly runs: readonly RunEvidence[]
  /** Runs that the server lists though no request or tool that was acknowledged started them. */
  readonly strayRuns: readonly { readonly runId: string; readonly definition: string }[]
  readonly answers: readonly AnswerEvidence[]
  readonly inbox: readonly InboxEvidence[]
  readonly expectedEffects: readonly ExpectedEffect[]
  readonly effects: readonly Effect[]
  /** Questions of workflow runs that were seen open. */
  readonly interrupts: number
  /** What went wrong beside the rest: a request that was refused, a scenario that could not go on. */
  readonly failures: readonly string[]
}

/** A way for a run to end that is right. */
export interface RightEnd {
  readonly status: 'completed' | 'cancelled'
  /** What the run must give. Absent: it is judged by what its streams say. */
  readonly output?: unknown
}

/** A run that was acknowledged, and what became of it. */
export interface RunEvidence {
  readonly runId: string
  readonly scenario: string
  readonly rightEnds: readonly RightEnd[]
  /** What the server says at the end. Absent: it knows no such run. */
  readonly seen?: SeenRun
}

/** A run as the server shows it. */
export interface SeenRun {
  readonly status: string
  readonly output?: unknown
  readonly error?: string
}

/** A chat, and what it shows at the end. */
export interface ChatEvidence {
  readonly chatId: string
  readonly scenario: string
  /** Ids of the persons' messages that were acknowledged. */
  readonly messageIds: readonly string[]
  readonly shown: readonly ShownMessage[]
}

/** A message of a chat as the server shows it. */
export interface ShownMessage {
  readonly id: string
  readonly role: string
  /** All text of it, in order. */
  readonly text: string
  /** Ids of the persons' messages that were steered into it. */
  readonly steered: readonly string[]
}

/** An assistant's message: what its streams say to those who read them. */
export interface AnswerEvidence {
  /** The run's id, which is the message's. */
  readonly runId: string
  readonly chatId: string
  readonly scenario: string
  /** The text when nothing stops the answer. Stopped, it is the start of it. */
  readonly text: string
  /** In order; the message is all of them, one after the other. */
  readonly streams: readonly StreamEvidence[]
  /** Streams that hold the message from its beginning by themselves, for pages that had none of it. */
  readonly messageStreams: readonly StreamEvidence[]
  /** What the AI SDK makes of the uncut streams: the text, or why it failed. */
  readonly sdk: { readonly text: string } | { readonly failure: string }
}

/** One stream, by a reader that was never cut and by those who were there while it was killed. */
export interface StreamEvidence {
  readonly streamId: string
  /** Absent: the server knows no such stream. */
  readonly whole?: WholeStream
  readonly readings: readonly Reading[]
}

/** A stream read from 0 in one piece. */
export interface WholeStream {
  /** The `id:` of each frame; -1 where there was none. */
  readonly indexes: readonly number[]
  readonly chunks: readonly UiChunk[]
}

/** What one reader got over all of its connections. */
export interface Reading {
  readonly reader: string
  /** The start index that it asked for. */
  readonly asked: number
  /** The index of its first chunk. */
  readonly from: number
  /** The index after its last chunk. */
  readonly next: number
  readonly chunks: readonly UiChunk[]
  /** `left`: the reader went away on purpose. `broken`: it did not come to the end. */
  readonly end: 'finished' | 'left' | 'broken'
  /** Why it is broken. */
  readonly failure?: string
}

/** Something that was acknowledged and must have been carried out, or been named. */
export type InboxEvidence = { readonly scenario: string } & (
  | { readonly kind: 'cancel'; readonly runId: string }
  | { readonly kind: 'resume'; readonly runId: string; readonly output: unknown }
  | {
      readonly kind: 'approval'
      readonly runId: string
      readonly toolCallId: string
      readonly approved: boolean
    }
  | {
      readonly kind: 'message'
      readonly chatId: string
      readonly messageId: string
      /** What the chat must say to it, once. */
      readonly reply: string
    }
)

/** An effect that was asked for once, or refused. `at most 1`: the request was never acknowledged. */
export interface ExpectedEffect {
  readonly scenario: string
  readonly orderId: string
  readonly kind: Effect['kind']
  readonly amount: number
  readonly times: 0 | 1 | 'at most 1'
}

/** A row of the order desk's effects. */
export interface Effect {
  readonly kind: string
  readonly orderId: string
  readonly amount: number
}
