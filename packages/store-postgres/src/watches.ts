// Watches of one store: of this process's commits at once, of others' when they are heard or found.
//
// Owns:  the hub, the listener, what was last seen of each watched topic.
// Asks:  the database, while somebody watches, every `pollMs`.
// Never: holds a change back because it was told already: a watch may fire without a reason.
//
// V1. Nothing is missed: a topic's state is compared with the one before, and a topic that was not
//     looked at before is fired.
// V2. While nobody watches, nothing is asked.
// V3. A node whose lease runs out tells of no work; its sessions are found by looking.
import type { WatchTopic } from '@holdfast/core'
import { createWatchHub, topicKey, workTopicKey } from '@holdfast/core/commit-rules'
import type { WatchHub } from '@holdfast/core/commit-rules'
import { Announcements } from './announcements.ts'
import type { Database } from './database.ts'
import { Listener } from './listener.ts'
import { topicHash } from './topic-hash.ts'
import { databaseMark, topicStates } from './topic-states.ts'
import type { DatabaseMark } from './topic-states.ts'

/** The watches of one store. */
export class Watches {
  readonly #database: Database
  readonly #hub: WatchHub
  readonly #announcements: Announcements
  readonly #listener: Listener
  readonly #keysByHash = new Map<string, string>()
  #states: ReadonlyMap<string, string> = new Map()
  #seen: ReadonlySet<string> = new Set()
  #mark: DatabaseMark | undefined
  #cancelPoll: (() => void) | undefined
  #polling = false
  #closed = false

  constructor(database: Database, sender: string) {
    this.#database = database
    this.#hub = createWatchHub((topic, watched) => this.#watched(topic, watched))
    this.#announcements = new Announcements(database, sender)
    this.#listener = new Listener(database, sender, {
      changed: (hashes) => this.#heard(hashes),
      anyChanged: () => this.#hub.fireAll(),
    })
  }

  /** Begins to listen. */
  start(): Promise<void> {
    return this.#listener.start()
  }

  watch(topic: WatchTopic, signal: AbortSignal): AsyncIterable<void> {
    return this.#hub.watch(topic, signal)
  }

  /** This process has changed these topics: told here now, and to others soon. */
  changed(keys: ReadonlySet<string>): void {
    this.#hub.fire(keys)
    this.#announcements.add(keys)
  }

  /** Ends the watches; what was changed is still told to others by {@link close}. */
  end(): void {
    this.#closed = true
    this.#hub.close()
    this.#stopPolling()
  }

  async close(): Promise<void> {
    await Promise.all([this.#announcements.close(), this.#listener.close()])
  }

  #watched(topic: WatchTopic, watched: boolean): void {
    const key = topicKey(topic)
    if (watched) this.#keysByHash.set(topicHash(key), key)
    else this.#keysByHash.delete(topicHash(key))
    if (!this.#hub.active) this.#stopPolling()
    else if (!this.#polling) {
      this.#polling = true
      this.#pollLater()
    }
  }

  #heard(hashes: readonly string[]): void {
    this.#hub.fire(hashes.flatMap((hash) => this.#keysByHash.get(hash) ?? []))
  }

  #pollLater(): void {
    const { system, pollMs } = this.#database.settings
    this.#cancelPoll = system.after(pollMs, () => void this.#poll())
  }

  #stopPolling(): void {
    this.#cancelPoll?.()
    this.#cancelPoll = undefined
    this.#polling = false
    this.#states = new Map()
    this.#seen = new Set()
    this.#mark = undefined
  }

  async #poll(): Promise<void> {
    const cancel = this.#cancelPoll
    try {
      await this.#look()
    } catch {
      // Whoever watches must look, and is told what is wrong.
      if (this.#cancelPoll === cancel) this.#hub.fireAll()
    }
    if (this.#cancelPoll === cancel && this.#polling && !this.#closed) this.#pollLater()
  }

  async #look(): Promise<void> {
    const topics = [...this.#hub.topics()]
    const known = topics.every((topic) => this.#seen.has(topicKey(topic)))
    const before = this.#mark
    const mark = await databaseMark(this.#database)
    if (known && before?.snapshot === mark.snapshot && before.expired === mark.expired) return
    const states = await topicStates(this.#database, topics)
    const keys = topics
      .map(topicKey)
      .filter((key) => !states.has(key) || states.get(key) !== this.#states.get(key))
    this.#mark = mark
    this.#states = states
    this.#seen = new Set(topics.map(topicKey))
    if (before !== undefined && before.expired !== mark.expired) keys.push(workTopicKey)
    this.#hub.fire(keys)
  }
}
