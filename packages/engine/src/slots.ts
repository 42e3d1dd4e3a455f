// Who may execute now.
//
// Owns:  how many runs of the engine and of each session hold a slot, and who waits for one.
// Never: knows what a run is.
//
// T1. No more slots are held than allowed, in all and per session.
// T2. Fair: sessions that wait take turns; within a session the first to ask is the first served.

/** A slot that is held or waited for. */
export interface Slot {
  /** Gives it back, or stops waiting. Only the first call counts. */
  release(): void
}

interface Waiting {
  readonly granted: () => void
  state: 'waiting' | 'held' | 'released'
}

interface SessionSlots {
  held: number
  readonly waiting: Waiting[]
}

/** Slots for executions, fair between sessions. */
export class Slots {
  readonly #maxActive: number
  readonly #maxPerSession: number
  readonly #changed: (change: 1 | -1) => void
  readonly #sessions = new Map<string, SessionSlots>()
  /** Sessions with somebody waiting, the next one to be served first. */
  readonly #turns = new Set<string>()
  #held = 0
  #closed = false

  /** `changed` is told by how many more, or fewer, are held. */
  constructor(
    maxActive: number,
    maxPerSession: number,
    changed: (change: 1 | -1) => void = () => undefined,
  ) {
    this.#maxActive = maxActive
    this.#maxPerSession = maxPerSession
    this.#changed = changed
  }

  /** How many are held. */
  get held(): number {
    return this.#held
  }

  /** A slot at once, if one is free and nobody of the session waits for it. */
  take(sessionId: string): Slot | undefined {
    const session = this.#session(sessionId)
    if (session.waiting.length > 0 || !this.#hasRoom(session)) return undefined
    return this.#hold(sessionId, session, { granted: () => undefined, state: 'waiting' })
  }

  /** Waits for a slot; `granted` is called once, later or at once, unless it is released before. */
  request(sessionId: string, granted: () => void): Slot {
    const session = this.#session(sessionId)
    const waiting: Waiting = { granted, state: 'waiting' }
    session.waiting.push(waiting)
    this.#turns.add(sessionId)
    const slot: Slot = { release: () => this.#release(sessionId, session, waiting) }
    this.#serve()
    return slot
  }

  /** Grants nothing any more. */
  close(): void {
    this.#closed = true
  }

  #session(sessionId: string): SessionSlots {
    const known = this.#sessions.get(sessionId)
    if (known !== undefined) return known
    const session: SessionSlots = { held: 0, waiting: [] }
    this.#sessions.set(sessionId, session)
    return session
  }

  #hasRoom(session: SessionSlots): boolean {
    return !this.#closed && this.#held < this.#maxActive && session.held < this.#maxPerSession
  }

  #hold(sessionId: string, session: SessionSlots, waiting: Waiting): Slot {
    waiting.state = 'held'
    session.held += 1
    this.#held += 1
    this.#changed(1)
    return { release: () => this.#release(sessionId, session, waiting) }
  }

  #release(sessionId: string, session: SessionSlots, waiting: Waiting): void {
    const { state } = waiting
    waiting.state = 'released'
    if (state === 'waiting') {
      const index = session.waiting.indexOf(waiting)
      if (index >= 0) session.waiting.splice(index, 1)
    }
    if (state === 'held') {
      session.held -= 1
      this.#held -= 1
      this.#changed(-1)
    }
    if (session.held === 0 && session.waiting.length === 0) {
      this.#sessions.delete(sessionId)
      this.#turns.delete(sessionId)
    }
    if (state === 'held') this.#serve()
  }

  #serve(): void {
    let refused = 0
    while (refused < this.#turns.size && this.#held < this.#maxActive) {
      const [sessionId] = this.#turns
      if (sessionId === undefined) return
      this.#turns.delete(sessionId)
      const session = this.#sessions.get(sessionId)
      const next = session?.waiting[0]
      if (session === undefined || next === undefined) continue
      this.#turns.add(sessionId)
      if (this.#hasRoom(session)) {
        session.waiting.shift()
        this.#hold(sessionId, session, next)
        if (session.waiting.length === 0) this.#turns.delete(sessionId)
        refused = 0
        next.granted()
      } else {
        refused += 1
      }
    }
  }
}
