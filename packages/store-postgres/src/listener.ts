// Hears of what other processes have committed: `LISTEN`, on a connection of its own.
//
// Owns:  that connection, as long as the store is open.
// Asks:  the system for the pause before it connects again.
// Never: is relied on alone: what is not heard is found by polling.
//
// T1. It listens before anybody watches, so that a watch misses nothing from its first moment on.
// T2. After each connecting all topics are fired: what was said meanwhile was not heard.
// T3. The connection keeps no process alive.
import type { Client } from 'pg'
import { escapeIdentifier } from 'pg'
import { everything } from './announcements.ts'
import type { Database } from './database.ts'

/** The longest pause before it connects again. Milliseconds. */
const pauseMs = 5_000

/** What is heard. */
export interface ListenerEvents {
  /** Topics with these hashes have changed. */
  readonly changed: (hashes: readonly string[]) => void
  /** Any topic may have changed. */
  readonly anyChanged: () => void
}

/** The listening of one store. */
export class Listener {
  readonly #database: Database
  readonly #sender: string
  readonly #events: ListenerEvents
  #client: Client | undefined
  #wanted = false
  #failures = 0
  #cancelPause: (() => void) | undefined
  #ending: Promise<void> = Promise.resolve()

  constructor(database: Database, sender: string, events: ListenerEvents) {
    this.#database = database
    this.#sender = sender
    this.#events = events
  }

  /** Connects for the first time. Resolves also if that fails: it goes on trying. */
  start(): Promise<void> {
    this.#wanted = true
    return this.#connect()
  }

  async close(): Promise<void> {
    this.#wanted = false
    this.#disconnect()
    await this.#ending
  }

  async #connect(): Promise<void> {
    const client = this.#database.listener()
    if (client === undefined) return
    this.#client = client
    const lost = (): void => this.#lost(client)
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ payload = '' }) => this.#hear(payload))
    try {
      await client.connect()
      unref(client)
      await client.query(`listen ${escapeIdentifier(this.#database.settings.channel)}`)
      if (this.#client !== client) return
      this.#failures = 0
      this.#events.anyChanged()
    } catch {
      this.#lost(client)
    }
  }

  #hear(payload: string): void {
    const [sender, ...hashes] = payload.split(',')
    if (sender === this.#sender) return
    if (hashes.includes(everything)) this.#events.anyChanged()
    else this.#events.changed(hashes)
  }

  #lost(client: Client): void {
    if (this.#client !== client) return
    this.#disconnect()
    if (!this.#wanted) return
    const delay = Math.min(50 * 2 ** this.#failures, pauseMs)
    this.#failures += 1
    this.#cancelPause = this.#database.settings.system.after(delay, () => void this.#connect())
  }

  #disconnect(): void {
    this.#cancelPause?.()
    this.#cancelPause = undefined
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    const ended = client.end().catch(() => undefined)
    this.#ending = Promise.all([this.#ending, ended]).then(() => undefined)
  }
}

/** The driver has it, its types have not. */
function unref(client: Client & { readonly unref?: () => void }): void {
  client.unref?.()
}
