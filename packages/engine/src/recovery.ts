// The search for sessions with work and no live owner.
import { ErrorCode, hasErrorCode } from '@holdfast/core'
import type { SessionId } from '@holdfast/core'
import type { Services } from './options.ts'
import { keepWatching, pause } from './watching.ts'

const pageSessions = 100
const backoffMs = 500

/** Finds work and hands it on, until it is stopped. */
export class WorkSearch {
  readonly #services: Services
  readonly #found: (sessionId: SessionId) => Promise<void>
  readonly #watch = new AbortController()
  #searching: Promise<void> | undefined
  #again = false
  #cancelWake: (() => void) | undefined

  constructor(services: Services, found: (sessionId: SessionId) => Promise<void>) {
    this.#services = services
    this.#found = found
  }

  /** Searches now, and whenever the store tells of work or a wait is over. */
  begin(): void {
    void keepWatching(this.#services, { kind: 'work' }, this.#watch.signal, () => this.#search())
  }

  /** Looks soon whether a session that was lost can be had again. */
  look(sessionId: SessionId): void {
    void pause(this.#services, backoffMs, this.#watch.signal).then(async () => {
      if (!this.#watch.signal.aborted) await this.#found(sessionId)
    })
  }

  stop(): void {
    this.#watch.abort()
    this.#cancelWake?.()
    this.#cancelWake = undefined
  }

  #search(): Promise<void> {
    this.#again = true
    this.#searching ??= this.#searchAll().finally(() => {
      this.#searching = undefined
    })
    return this.#searching
  }

  async #searchAll(): Promise<void> {
    const { store, system, log } = this.#services
    while (this.#again && !this.#watch.signal.aborted) {
      this.#again = false
      try {
        const seen = new Set<SessionId>()
        for (;;) {
          const sessions = await store.findWork(system.now(), pageSessions)
          const fresh = sessions.filter((sessionId) => !seen.has(sessionId))
          for (const sessionId of fresh) seen.add(sessionId)
          await Promise.all(fresh.map((sessionId) => this.#found(sessionId)))
          if (fresh.length === 0 || sessions.length < pageSessions) break
        }
        const wakeAt = await store.nextWake()
        if (wakeAt !== undefined)
          this.#wakeIn(Math.max(wakeAt - system.now(), seen.size > 0 ? backoffMs : 0))
      } catch (cause) {
        if (hasErrorCode(cause, ErrorCode.storeClosed)) return
        log.write({
          level: 'warn',
          event: 'engine.work.search_failed',
          message: 'Work could not be looked for; it is tried again.',
          cause,
        })
        this.#wakeIn(backoffMs)
      }
    }
  }

  #wakeIn(delayMs: number): void {
    if (this.#watch.signal.aborted) return
    this.#cancelWake?.()
    this.#cancelWake = this.#services.system.after(delayMs, () => void this.#search())
  }
}
