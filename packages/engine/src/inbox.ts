// What reaches a run from outside, in the order in which the store accepted it.
//
// Owns:  how far the inbox has been read.
// Asks:  the store for entries; the execution to journal each.
// Never: skips an entry, or reads two at once.
import { inboxOf } from '@holdfast/core'
import type { Store, StoreWrite } from '@holdfast/core'
import { decodeInboxEntry } from '@holdfast/workflow'
import type { InboxEntry } from '@holdfast/workflow'

const pageEntries = 100

/** Gets the entries, one after the other; the next is read once it has resolved. */
export type InboxListener = (entry: InboxEntry, sequence: number) => void | Promise<void>

/** Reads a run's inbox from where the journal stands. */
export class Inbox {
  readonly #store: Store
  readonly #run: { readonly sessionId: string; readonly runId: string }
  readonly #listener: InboxListener
  readonly #failed: (error: unknown) => void
  #next: number
  #reading: Promise<void> | undefined
  #again = false
  #stopped = false

  constructor(
    store: Store,
    run: { readonly sessionId: string; readonly runId: string; readonly next: number },
    listener: InboxListener,
    failed: (error: unknown) => void,
  ) {
    this.#store = store
    this.#run = run
    this.#next = run.next
    this.#listener = listener
    this.#failed = failed
  }

  /** There may be something new. */
  poke(): void {
    if (this.#stopped) return
    this.#again = true
    this.#reading ??= this.#read()
  }

  get isReading(): boolean {
    return this.#reading !== undefined
  }

  /** Reads no more; resolves once what is being read has been taken in. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#reading
  }

  async #read(): Promise<void> {
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false
        await this.#readPages()
      }
    } catch (error) {
      this.#failed(error)
    } finally {
      this.#reading = undefined
    }
  }

  async #readPages(): Promise<void> {
    const { sessionId, runId } = this.#run
    for (;;) {
      const page = await this.#store.logPage(sessionId, inboxOf(runId), {
        from: this.#next,
        limit: pageEntries,
      })
      for (const entry of page.entries) {
        if (this.#stopped) return
        await this.#listener(decodeInboxEntry(entry), entry.sequence)
        this.#next = entry.sequence + 1
      }
      if (page.entries.length === 0 || this.#next >= page.next) return
    }
  }
}

/** The condition that nothing has reached a run since its inbox was read up to `next`. */
export function inboxUnchanged(runId: string, next: number): StoreWrite {
  return { kind: 'log-unchanged', log: inboxOf(runId), expectedNext: next }
}
