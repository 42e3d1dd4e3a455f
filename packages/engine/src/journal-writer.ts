// Makes what happens in one run durable.
//
// Owns:  the entries and row changes that wait for the next commit, and the one in flight.
// Asks:  `commitRun` to commit; the output queue for chunks.
// Never: decides what happens; tells of an entry before it is durable.
//
// W1. At most one commit with entries is in flight; what comes meanwhile shares the next revision.
// W2. Chunks are committed by one commit at a time. A commit that must carry a step's last chunks
//     waits for it; one that need not goes at the same time.
// W3. Entries are told of in the order in which they were appended, after their commit.
import { isStoreConflict } from '@holdfast/core'
import type { RunRecord, StoreWrite } from '@holdfast/core'
import type { JournalEntry } from '@holdfast/workflow'
import { addTo, emptyBatch, isEmpty, merged, rouses } from './batch.ts'
import type { Batch, EntryExtras } from './batch.ts'
import { headOf, progressObject } from './journal-totals.ts'
import type { JournalTotals } from './journal-totals.ts'
import type { Delivered } from './operation.ts'
import type { Services } from './options.ts'
import type { Closing, OutputQueue } from './output.ts'
import { commitRun } from './run-commit.ts'
import type { Ownership, RunState } from './run-commit.ts'
import { inboxRead, isAtRest, roused, streamClosed } from './run-moves.ts'
import type { Move } from './run-moves.ts'

/** The row's place in the inbox may lag by so many entries while the run executes. */
const inboxLag = 256

/** Who is told. */
export interface WriterListener {
  /** An entry is about to be written in this revision. */
  writing?(entry: JournalEntry, revision: number): void
  committed(entries: readonly Delivered[]): void
  /** Nothing is in flight, and nothing waits but what can. */
  quiet(): void
  /** Something waits that can: to be committed when the run comes to rest, or at once if it does not. */
  waiting(): void
  failed(error: unknown): void
}

/** What ends a stretch of the run in one commit. */
export interface Conclusion {
  readonly entries: readonly JournalEntry[]
  readonly moves: readonly Move[]
  readonly before?: readonly StoreWrite[]
  readonly after: readonly StoreWrite[]
  /** How the run's open stream ends. Absent: it stays open. */
  readonly closing?: Closing
}

/** The journal of one run, as its execution writes it. */
export class JournalWriter {
  readonly totals: JournalTotals
  readonly #services: Services
  readonly #ownership: Ownership
  readonly #state: RunState
  readonly #output: OutputQueue
  readonly #listener: WriterListener
  #batch = emptyBatch()
  #journalBusy = false
  #streamBusy = false
  #scheduled = false
  readonly #idle: (() => void)[] = []
  readonly #quiet: (() => void)[] = []
  #stopped = false
  #lastTime: number

  constructor(
    parts: {
      readonly services: Services
      readonly ownership: Ownership
      readonly state: RunState
      readonly output: OutputQueue
      readonly totals: JournalTotals
      readonly lastTime: number
    },
    listener: WriterListener,
  ) {
    this.#services = parts.services
    this.#ownership = parts.ownership
    this.#state = parts.state
    this.#output = parts.output
    this.totals = parts.totals
    this.#lastTime = parts.lastTime
    this.#listener = listener
  }

  /** The time for the next entry: now, but never before an earlier one. */
  time(): number {
    this.#lastTime = Math.max(this.#lastTime, this.#services.system.now())
    return this.#lastTime
  }

  /** Whether a commit is in flight, or is due. */
  get isBusy(): boolean {
    return this.#journalBusy || this.#streamBusy || this.#batch.urgent || !this.#output.isEmpty
  }

  /** Whether something waits that can. */
  get hasWaiting(): boolean {
    return !isEmpty(this.#batch)
  }

  /** The row as it will be once all that waits is committed. */
  get record(): RunRecord {
    return this.#moved(this.#batch.moves)
  }

  append(entry: JournalEntry, extras: EntryExtras = {}): void {
    const batch = this.#batch
    if (rouses(entry) && isAtRest(this.record)) batch.moves.push(roused)
    if (entry.kind === 'step-completed') this.totals.completedSteps += 1
    if (entry.kind === 'progress-made') this.totals.progress = progressObject(entry)
    addTo(batch, entry, extras)
    if (extras.canWait === true) this.#listener.waiting()
    else this.#urge()
  }

  /** Changes the row with the next commit; `urgent` makes one. */
  move(move: Move, urgent: boolean): void {
    this.#batch.moves.push(move)
    if (urgent) this.#urge()
  }

  /** Something of the run executes: a row that says that it is at rest is put right. */
  rouse(): void {
    if (isAtRest(this.record)) this.move(roused, true)
  }

  /** Writes something of another run's with the next commit, soon. */
  write(writes: readonly StoreWrite[], committed?: () => void): void {
    this.#batch.after.push(...writes)
    if (committed !== undefined) this.#batch.committed.push(committed)
    this.#urge()
  }

  /** The output queue has something. */
  outputQueued(): void {
    this.#schedule()
  }

  /** Commits what can wait, too. */
  flush(): void {
    if (!isEmpty(this.#batch)) this.#urge()
  }

  /**
   * Commits all that waits together with what ends a stretch of the run. Nothing may be in flight.
   *
   * @returns false if the inbox has grown meanwhile: nothing was written, and what waited still waits
   */
  async conclude(conclusion: Conclusion): Promise<boolean> {
    const batch = this.#batch
    this.#batch = emptyBatch()
    this.#journalBusy = true
    this.#streamBusy = true
    const closed =
      conclusion.closing === undefined ? undefined : this.#output.close(conclusion.closing)
    const moves = [
      ...batch.moves,
      ...conclusion.moves,
      ...(closed === undefined ? [] : [streamClosed(this.#output.number)]),
      inboxRead(this.totals.inboxNext),
    ]
    try {
      await commitRun(this.#services, this.#ownership, this.#state, {
        entries: [...this.#written(batch), ...conclusion.entries],
        completedSteps: this.totals.completedSteps,
        head: headOf(this.totals),
        record: this.#moved(moves),
        before: [...batch.before, ...(conclusion.before ?? [])],
        after: [...batch.after, ...conclusion.after],
        ...(closed?.chunks === undefined ? {} : { chunks: closed.chunks }),
        ...(closed === undefined ? {} : { close: closed.close }),
      })
    } catch (error) {
      this.#batch = merged(batch, this.#batch)
      this.#journalBusy = false
      this.#streamBusy = false
      for (const idle of this.#idle.splice(0)) idle()
      if (!isStoreConflict(error, 'log-grown')) throw error
      this.#schedule()
      return false
    }
    if (closed !== undefined) this.#output.closed()
    this.#journalBusy = false
    this.#streamBusy = false
    this.#told(batch)
    this.#next()
    return true
  }

  /** Resolves when nothing is in flight or due, or the writer was stopped. */
  async quiet(): Promise<void> {
    while (this.isBusy && !this.#stopped) {
      await new Promise<void>((resolve) => {
        this.#quiet.push(resolve)
      })
    }
  }

  /** Resolves when nothing is in flight. */
  idle(): Promise<void> {
    if (!this.#journalBusy && !this.#streamBusy) return Promise.resolve()
    return new Promise((resolve) => {
      this.#idle.push(resolve)
    })
  }

  /** Nothing is committed from here on but what is in flight. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    for (const dropped of this.#batch.dropped) dropped()
    this.#output.drop()
    for (const quiet of this.#quiet.splice(0)) quiet()
  }

  #urge(): void {
    this.#batch.urgent = true
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#stopped) return
    this.#scheduled = true
    queueMicrotask(() => {
      this.#scheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#stopped) return
    if (!this.#journalBusy && this.#batch.urgent) this.#commitBatch()
    if (!this.#streamBusy && !this.#output.isEmpty) this.#commitChunks()
  }

  #commitBatch(): void {
    const batch = this.#batch
    if (batch.carriesChunks && this.#streamBusy) return
    this.#batch = emptyBatch()
    this.#journalBusy = true
    const chunks = this.#streamBusy ? undefined : this.#output.take()
    if (chunks !== undefined) this.#streamBusy = true
    void commitRun(this.#services, this.#ownership, this.#state, {
      entries: this.#written(batch),
      completedSteps: this.totals.completedSteps,
      record: this.#rowOf(batch),
      before: batch.before,
      after: batch.after,
      ...(batch.showsHead ? { head: headOf(this.totals) } : {}),
      ...(chunks === undefined ? {} : { chunks }),
    }).then(
      () => {
        this.#journalBusy = false
        if (chunks !== undefined) {
          this.#streamBusy = false
          this.#output.stored(chunks)
        }
        this.#told(batch)
        this.#next()
      },
      (error: unknown) => {
        for (const dropped of batch.dropped) dropped()
        this.#fail(error)
      },
    )
  }

  #commitChunks(): void {
    const chunks = this.#output.take()
    if (chunks === undefined) return
    this.#streamBusy = true
    void commitRun(this.#services, this.#ownership, this.#state, {
      chunks,
      urgency: 'chunks',
    }).then(
      () => {
        this.#streamBusy = false
        this.#output.stored(chunks)
        this.#next()
      },
      (error: unknown) => this.#fail(error),
    )
  }

  #next(): void {
    if (!this.#journalBusy && !this.#streamBusy) for (const idle of this.#idle.splice(0)) idle()
    if (this.#stopped) return
    this.#flush()
    if (this.isBusy) return
    for (const quiet of this.#quiet.splice(0)) quiet()
    this.#listener.quiet()
  }

  #told(batch: Batch): void {
    if (this.#stopped) {
      for (const dropped of batch.dropped) dropped()
      return
    }
    for (const committed of batch.committed) committed()
    if (batch.entries.length > 0) this.#listener.committed(batch.entries)
  }

  #fail(error: unknown): void {
    for (const idle of this.#idle.splice(0)) idle()
    if (this.#stopped) return
    this.stop()
    this.#listener.failed(error)
  }

  /** The row after a batch: as it is, unless something of it changes or the inbox's place lags far. */
  #rowOf(batch: Batch): RunRecord {
    const { record } = this.#state
    const lags = this.totals.inboxNext - record.inboxReadThrough >= inboxLag
    if (batch.moves.length === 0 && !lags) return record
    return this.#moved([...batch.moves, inboxRead(this.totals.inboxNext)])
  }

  /** A batch's entries as they are written. Only one commit with entries is in flight, so it is the next. */
  #written(batch: Batch): readonly JournalEntry[] {
    const revision = this.#state.journalNext
    return batch.entries.map(({ entry }) => {
      const written = batch.completions.get(entry)?.(revision) ?? entry
      this.#listener.writing?.(written, revision)
      return written
    })
  }

  #moved(moves: readonly Move[]): RunRecord {
    const { record: before, journalNext } = this.#state
    const now = this.#services.system.now()
    return moves.reduce((record, move) => move(record, now, journalNext), before)
  }
}
