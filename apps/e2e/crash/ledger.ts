import { setTimeout as pause } from 'node:timers/promises'
import type { ExpectedEffect, InboxEvidence, Reading, RightEnd } from './evidence.ts'
import { Moments } from './moments.ts'

/** A run that was acknowledged, as those who wait for it know it. */
export interface LedgerRun {
  readonly runId: string
  readonly scenario: string
  /** Whose session it is in. */
  readonly browser: number
  rightEnds: readonly RightEnd[]
  /** `asking`: it waits for a person. */
  state: 'going' | 'asking' | 'ended'
  /** How many steps its readers have seen end. */
  moves: number
}

/** An answer of a chat that was acknowledged. */
export interface LedgerAnswer {
  readonly runId: string
  readonly chatId: string
  readonly scenario: string
  readonly browser: number
  /** What it must say if nobody stops it. */
  text: string
  /** By stream id, in the order in which they were given. */
  readonly streams: Map<string, Reading[]>
}

/** A chat with at least one message that was acknowledged. */
export interface LedgerChat {
  readonly chatId: string
  readonly scenario: string
  readonly browser: number
  readonly messageIds: Set<string>
}

/** What all browsers together know: what they were promised, and what they saw. */
export class Ledger {
  readonly moments = new Moments()
  readonly runs = new Map<string, LedgerRun>()
  readonly answers = new Map<string, LedgerAnswer>()
  readonly chats = new Map<string, LedgerChat>()
  readonly inbox: InboxEvidence[] = []
  /** By order. */
  readonly effects = new Map<string, ExpectedEffect>()
  readonly failures: string[] = []
  interrupts = 0
  reconnects = 0

  /** How often an effect must have happened at the end; what was said of its order before does not count any more. */
  expectEffect(effect: ExpectedEffect): void {
    this.effects.set(effect.orderId, effect)
  }

  /** A run was acknowledged. Told again, it is the same. */
  acknowledgeRun(run: Pick<LedgerRun, 'runId' | 'scenario' | 'browser' | 'rightEnds'>): LedgerRun {
    const known = this.runs.get(run.runId)
    if (known !== undefined) return known
    const added: LedgerRun = { ...run, state: 'going', moves: 0 }
    this.runs.set(run.runId, added)
    return added
  }

  /** A person's message was acknowledged. */
  acknowledgeMessage(chat: Omit<LedgerChat, 'messageIds'>, messageId: string): void {
    const known = this.chats.get(chat.chatId) ?? { ...chat, messageIds: new Set() }
    this.chats.set(chat.chatId, known)
    known.messageIds.add(messageId)
  }

  /** An answer was promised, with one more stream. Returns where its readers' readings go. */
  acknowledgeAnswer(
    answer: Omit<LedgerAnswer, 'streams'>,
    streamId: string,
  ): { readonly answer: LedgerAnswer; readonly readings: Reading[] } {
    const known = this.answers.get(answer.runId) ?? { ...answer, streams: new Map() }
    this.answers.set(answer.runId, known)
    const readings = known.streams.get(streamId) ?? []
    known.streams.set(streamId, readings)
    return { answer: known, readings }
  }

  /**
   * Resolves when every answer that is under way now has come a step further, or has ended or asked;
   * or after so many milliseconds.
   */
  async allMove(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs
    const before = [...this.runs.values()]
      .filter(({ runId, state }) => state === 'going' && this.answers.has(runId))
      .map((run) => ({ run, moves: run.moves }))
    const stands = () =>
      before.some(({ run, moves }) => run.state === 'going' && run.moves === moves)
    while (stands() && performance.now() < until) await pause(10)
  }

  /** A scenario that is over has seen the end of all that it was promised. @throws when it has not */
  assertOver(scenario: string): void {
    for (const run of this.runs.values()) {
      if (run.scenario !== scenario || run.state === 'ended') continue
      throw new Error(`nobody has seen run ${run.runId} end: it is ${run.state}`)
    }
  }

  /** Runs that were acknowledged, have not ended as far as anybody knows, and wait for nobody. */
  inFlight(): number {
    let count = 0
    for (const { state } of this.runs.values()) if (state === 'going') count += 1
    return count
  }
}
