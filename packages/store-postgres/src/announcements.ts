// Tells other processes of what this one has committed: `NOTIFY`, many commits at once.
//
// Owns:  the topics that have changed and were not told of yet.
// Asks:  the system for the moment.
// Never: is part of a group's transaction: `NOTIFY` takes a lock over the whole server's commits.
//
// A1. The first change is told at once, later ones at most every `notifyMs`.
// A2. What cannot be told is found by polling.
import type { Database } from './database.ts'
import { sql } from './sql-text.ts'
import { topicHash } from './topic-hash.ts'

/** A notification has less than 8,000 bytes; a hash has at most thirteen and a comma. */
const hashesPerPayload = 500

/** Beyond so many topics, everything is said to have changed. */
const hashesAtOnce = 4 * hashesPerPayload

/** What stands in a payload for every topic. */
export const everything = '*'

/** The announcements of one store. */
export class Announcements {
  readonly #database: Database
  readonly #sender: string
  #keys = new Set<string>()
  #busy = false
  #closed = false

  constructor(database: Database, sender: string) {
    this.#database = database
    this.#sender = sender
  }

  add(keys: Iterable<string>): void {
    for (const key of keys) this.#keys.add(key)
    if (this.#busy || this.#closed || this.#keys.size === 0) return
    this.#busy = true
    void this.#tell()
  }

  /** Tells what is left, once. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#keys.size > 0) await this.#send()
  }

  async #tell(): Promise<void> {
    const { system, notifyMs } = this.#database.settings
    // From the beginning of one sending to that of the next.
    const pause = new Promise<void>((resolve) => void system.after(notifyMs, resolve))
    await this.#send()
    await pause
    this.#busy = false
    this.add([])
  }

  async #send(): Promise<void> {
    const keys = this.#keys
    this.#keys = new Set()
    const { channel } = this.#database.settings
    const sends = payloads([...keys], this.#sender).map(
      (payload) => sql`select pg_notify(${channel}, ${payload})`.text,
    )
    try {
      // Nothing is lost with a notification that polling would not find: it needs no flush.
      await this.#database.run('control', {
        text: `set local synchronous_commit = off; ${sends.join('; ')}`,
      })
    } catch {
      // Polling finds it.
    }
  }
}

/** The payloads that name these topics: the sender, and hashes. */
export function payloads(keys: readonly string[], sender: string): readonly string[] {
  if (keys.length > hashesAtOnce) return [`${sender},${everything}`]
  const list: string[] = []
  for (let from = 0; from < keys.length; from += hashesPerPayload) {
    const hashes = keys.slice(from, from + hashesPerPayload).map(topicHash)
    list.push(`${sender},${hashes.join(',')}`)
  }
  return list
}
