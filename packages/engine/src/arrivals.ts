// Journals what reaches a run from outside: answers, messages, cancels, ends of children.
//
// Owns:  which question and which child belongs to which operation; answers that came too late.
// Asks:  the writer to journal; the cancellation to take a cancel; its owner how a child ended.
// Never: delivers anything: what is journaled is delivered in the journal's order.
//
// I1. Each inbox entry is journaled, or named at the run's end.
import type { JsonValue } from '@holdfast/core'
import type { InboxEntry, JournalEntry } from '@holdfast/workflow'
import type { Cancellation } from './cancellation.ts'
import type { JournalWriter } from './journal-writer.ts'
import type { LoadedJournal } from './replay.ts'
import { interruptClosed } from './run-moves.ts'
import { encodeValue } from './stored-values.ts'
import type { EncodedValue } from './stored-values.ts'

interface Known {
  readonly path: string
  readonly label: string
}

/** What arrivals ask of their execution. */
export interface ArrivalsPort {
  readonly runId: string
  readonly writer: JournalWriter
  readonly cancellation: Cancellation
  readonly isOver: () => boolean
  readonly childEnd: (runId: string) => Promise<{ readonly output?: JsonValue }>
}

/** What arrives at one execution. */
export class Arrivals {
  readonly #port: ArrivalsPort
  readonly #questions = new Map<string, Known>()
  readonly #children = new Map<string, Known>()
  readonly #superseded: string[]

  constructor(port: ArrivalsPort, journal: LoadedJournal) {
    this.#port = port
    this.#superseded = [...journal.superseded]
    for (const entry of [...journal.opening.values()].flat()) this.#know(entry)
  }

  /** Interrupts whose accepted answers nobody will take. */
  get superseded(): readonly string[] {
    return this.#superseded
  }

  questionOpened(interruptId: string, path: string, label: string): void {
    this.#questions.set(interruptId, { path, label })
  }

  childStarted(runId: string, path: string, label: string): void {
    this.#children.set(runId, { path, label })
  }

  /** An answer was journaled and its operation is gone. */
  cameTooLate(interruptId: string): void {
    this.#superseded.push(interruptId)
  }

  /** Journals an inbox entry. */
  async take(entry: InboxEntry, inbox: number): Promise<void> {
    const { writer, cancellation, isOver } = this.#port
    if (isOver()) return
    writer.totals.inboxNext = inbox + 1
    switch (entry.kind) {
      case 'message':
        this.#message(entry, inbox)
        return
      case 'cancel':
        cancellation.ask(entry.reason, inbox)
        return
      case 'answer':
        this.#answer(entry, inbox)
        return
      case 'child':
        await this.#childEnded(entry, inbox)
    }
  }

  #message(entry: Extract<InboxEntry, { readonly kind: 'message' }>, inbox: number): void {
    const { writer, runId } = this.#port
    const body = encodeValue(runId, entry.body)
    writer.append(
      {
        kind: 'message-arrived',
        at: writer.time(),
        messageId: entry.id,
        body: body.stored,
        inbox,
      },
      { value: { decoded: body.value }, ...blobOf(body) },
    )
  }

  #answer(entry: Extract<InboxEntry, { readonly kind: 'answer' }>, inbox: number): void {
    const { writer, runId } = this.#port
    const { interruptId, payload, by } = entry
    const question = this.#questions.get(interruptId)
    if (question === undefined) {
      this.#superseded.push(interruptId)
      return
    }
    const answer = encodeValue(runId, payload)
    writer.append(
      {
        kind: 'interrupt-answered',
        at: writer.time(),
        ...question,
        interruptId,
        value: answer.stored,
        by,
        inbox,
      },
      {
        value: { decoded: answer.value },
        move: interruptClosed(interruptId),
        ...blobOf(answer),
      },
    )
  }

  async #childEnded(
    entry: Extract<InboxEntry, { readonly kind: 'child' }>,
    inbox: number,
  ): Promise<void> {
    const { writer, runId, childEnd } = this.#port
    const child = this.#children.get(entry.runId)
    const { output } = await childEnd(entry.runId)
    if (child === undefined) return
    const encoded = output === undefined ? undefined : encodeValue(runId, output)
    writer.append(
      {
        kind: 'child-ended',
        at: writer.time(),
        ...child,
        runId: entry.runId,
        status: entry.status,
        ...(encoded === undefined ? {} : { output: encoded.stored }),
        ...(entry.error === undefined ? {} : { error: entry.error }),
        inbox,
      },
      {
        value: { decoded: encoded?.value },
        ...(encoded === undefined ? {} : blobOf(encoded)),
      },
    )
  }

  #know(entry: JournalEntry): void {
    if (entry.kind === 'interrupt-opened') {
      this.questionOpened(entry.interruptId, entry.path, entry.label)
    }
    if (entry.kind === 'child-started') this.childStarted(entry.runId, entry.path, entry.label)
  }
}

function blobOf({ blob }: EncodedValue): {
  readonly before?: readonly [NonNullable<EncodedValue['blob']>]
} {
  return blob === undefined ? {} : { before: [blob] }
}
