import type { ChatOutcome } from '@holdfast/chat-client'
import { isTerminalChunk } from '@holdfast/chat-protocol'
import type { UiChunk } from '@holdfast/chat-protocol'
import type { UIMessageChunk } from 'ai'
import type { Reading } from './evidence.ts'
import type { MomentKind, Moments } from './moments.ts'

/** What a follower is told at its begin. */
export interface FollowerOptions {
  readonly reader: string
  readonly runId: string
  readonly streamId: string
  readonly stream: ReadableStream<UIMessageChunk>
  readonly asked: number
  /** The index of the first chunk. */
  readonly from: number
  /** How the transport says it ended; known once the stream has closed. */
  readonly end: () => { readonly outcome: ChatOutcome; readonly next: number } | undefined
  readonly moments: Moments
  /** Called when a step is seen to end. */
  readonly onStep: () => void
  /** Makes the transport let go. */
  readonly leave: () => void
}

const momentOf: Readonly<Partial<Record<UiChunk['type'], MomentKind>>> = {
  'tool-input-available': 'tool-called',
  'tool-approval-request': 'approval-asked',
  'text-delta': 'chunk',
  'reset-step': 'chunk',
}

/** Somebody who reads a stream to its end, over however many connections. */
export class Follower {
  readonly runId: string
  readonly streamId: string
  /** What came so far. */
  readonly chunks: UiChunk[] = []
  /** What it got, once it has ended, broken or left. Never rejects. */
  readonly reading: Promise<Reading>
  readonly #options: FollowerOptions
  readonly #waiting = new Set<() => void>()
  #hasLeft = false
  #isOver = false

  constructor(options: FollowerOptions) {
    this.#options = options
    this.runId = options.runId
    this.streamId = options.streamId
    this.reading = this.#read()
  }

  /** Resolves when so many chunks have come, or no more come. */
  async hasRead(count: number): Promise<void> {
    while (this.chunks.length < count && !this.#isOver) {
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Goes away, as a page does that is closed. */
  leave(): void {
    this.#hasLeft = true
    this.#options.leave()
  }

  async #read(): Promise<Reading> {
    const { reader, stream, asked, from, moments } = this.#options
    let thrown: string | undefined
    try {
      for await (const chunk of stream) {
        this.chunks.push(chunk)
        const moment = isTerminalChunk(chunk) ? 'answer-ended' : momentOf[chunk.type]
        if (moment !== undefined) moments.note(moment)
        if (endsStep(chunk)) this.#options.onStep()
        this.#wake()
      }
    } catch (error) {
      thrown = String(error)
    }
    this.#isOver = true
    this.#wake()
    const { outcome, next } = this.#options.end() ?? { outcome: 'failed', next: from }
    const basics = { reader, asked, from, next, chunks: this.chunks }
    const last = this.chunks.at(-1)
    if (thrown === undefined && last !== undefined && isTerminalChunk(last)) {
      return { ...basics, end: 'finished' }
    }
    if (this.#hasLeft) return { ...basics, end: 'left' }
    return { ...basics, end: 'broken', failure: thrown ?? outcome }
  }

  #wake(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const resolve of waiting) resolve()
  }
}

function endsStep(chunk: UiChunk): boolean {
  return (
    chunk.type === 'finish-step' || chunk.type === 'tool-output-available' || isTerminalChunk(chunk)
  )
}
