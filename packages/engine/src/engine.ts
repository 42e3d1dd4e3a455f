// An engine: executes the runs of a store in this process.
//
// Owns:  the sessions that it has claimed, the slots, the search for work.
// Asks:  the store for sessions without a live owner that have work.
// Never: executes a session that it has not claimed; closes the store, which is its host's.
//
// N1. On a store that was opened as a client it starts, answers and reads, and executes nothing.
// N2. Work that nobody owns is found by itself: at the beginning, when the store tells of some, and
//     when a wait is over.
// N3. When the node's lease is lost, everything stops in silence.
import { configurationInvalid, ErrorCode, hasErrorCode, parseUuid, silentLog } from '@holdfast/core'
import type {
  AnyWorkflowDefinition,
  Catalog,
  EngineCapabilities,
  Log,
  RegisteredDefinition,
  SessionClaim,
  SessionId,
  Store,
  Supervisors,
  System,
  Telemetry,
} from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { createCatalog } from '@holdfast/workflow'
import { engineLimits } from './options.ts'
import type { EngineLimits, Services } from './options.ts'
import { drainingError, OwnedSession } from './ownership.ts'
import { WorkSearch } from './recovery.ts'
import type { EndedRun } from './run-end.ts'
import type { NewRun } from './new-run.ts'
import { Nodes } from './nodes.ts'
import { RecentSet } from './recent-set.ts'
import { EngineSession } from './session.ts'
import { Slots } from './slots.ts'
import type { Slot } from './slots.ts'
import { guardedTelemetry } from './telemetry.ts'

/** What an engine is made of. */
export interface EngineOptions {
  readonly store: Store
  /** Give these or a `catalog`. */
  readonly definitions?: readonly AnyWorkflowDefinition[]
  readonly catalog?: Catalog
  /** Default: the real one. */
  readonly system?: System
  /** Where causes go. Default: nowhere. */
  readonly log?: Log
  /** Default: none, and nothing is computed for it. */
  readonly telemetry?: Telemetry
  readonly limits?: Partial<EngineLimits>
}

/** Executes definitions on a store. */
export interface Engine {
  readonly catalog: Catalog
  readonly capabilities: EngineCapabilities
  /** The supervisors of sessions, as tools and pages need them. */
  readonly supervisors: Supervisors
  /** One session, typed. @throws `id_invalid` when the id is no UUID */
  session(sessionId: SessionId): EngineSession
  /**
   * Takes no more work, waits up to `drainMs` for bodies that run, and lets go of every session, so
   * that another engine can take up at once what is left. Repeating it is harmless.
   */
  drain(): Promise<void>
  /** As `drain`, without waiting for bodies. */
  close(): Promise<void>
}

/** How many runs that were taken up here are remembered. */
const survivedRunsKept = 100_000

/** What an engine can do. */
const capabilities: EngineCapabilities = {
  name: 'embedded',
  matchesByKey: true,
  stepOutput: true,
  cleanupAfterCancel: true,
  manyProcesses: true,
}

/**
 * Makes an engine and sets it to work.
 *
 * It begins to take up unfinished runs at once, in the background. Its store is its host's to close,
 * after it.
 *
 * @throws `configuration_invalid`, and the codes of `createCatalog`
 */
export function createEngine(options: EngineOptions): Engine {
  const engine = new EmbeddedEngine(options)
  engine.begin()
  return engine
}

/** The engine as its own sessions see it. */
export class EmbeddedEngine implements Engine {
  readonly capabilities = capabilities
  readonly services: Services
  readonly slots: Slots
  readonly blockedRuns = new Set<string>()
  readonly survivedRuns = new RecentSet(survivedRunsKept)
  readonly nodes: Nodes
  readonly supervisors: Supervisors
  readonly #sessions = new Map<SessionId, OwnedSession>()
  readonly #claims = new Map<SessionId, Promise<void>>()
  readonly #faces = new Map<SessionId, EngineSession>()
  readonly #endings = new Map<string, Set<(end: EndedRun) => void>>()
  /** Sessions that were let go of for others to take, and until when. */
  readonly #left = new Map<SessionId, number>()
  readonly #search: WorkSearch | undefined
  #state: 'working' | 'draining' | 'closed' = 'working'
  #drained: Promise<void> | undefined

  constructor(options: EngineOptions) {
    const { store, definitions, catalog } = options
    if ((definitions === undefined) === (catalog === undefined)) {
      throw configurationInvalid('An engine needs either `definitions` or a `catalog`.')
    }
    const log = options.log ?? silentLog
    const telemetry = guardedTelemetry(options.telemetry, log)
    this.services = {
      store,
      catalog: catalog ?? createCatalog(definitions ?? []),
      system: options.system ?? realSystem,
      log,
      telemetry,
      limits: engineLimits(options.limits),
    }
    const { limits } = this.services
    this.slots = new Slots(limits.maxActiveRuns, limits.maxWorkers, (change) =>
      telemetry?.count('holdfast.slots.held', change),
    )
    this.supervisors = { session: (sessionId) => this.session(sessionId).supervisor }
    this.#search =
      store.node === undefined
        ? undefined
        : new WorkSearch(this.services, (sessionId) => this.#claimFound(sessionId))
    this.nodes = new Nodes(this.services)
  }

  get catalog(): Catalog {
    return this.services.catalog
  }

  begin(): void {
    const { node } = this.services.store
    if (node === undefined) return
    node.lost.addEventListener('abort', () => this.#lost(node.lost.reason), { once: true })
    if (node.lost.aborted) this.#lost(node.lost.reason)
    else {
      this.#search?.begin()
      void this.nodes.register()
    }
  }

  session(sessionId: SessionId): EngineSession {
    const id = parseUuid('sessionId', sessionId)
    const known = this.#faces.get(id)
    if (known !== undefined) return known
    const face = new EngineSession(this, id)
    if (this.#faces.size >= facesKept) this.#faces.clear()
    this.#faces.set(id, face)
    return face
  }

  drain(): Promise<void> {
    this.#drained ??= this.#drain(this.services.limits.drainMs)
    return this.#drained
  }

  close(): Promise<void> {
    this.#drained ??= this.#drain(0)
    return this.#drained
  }

  /** @throws `draining` */
  assertWorking(): void {
    if (this.#state !== 'working') throw drainingError()
  }

  /** The session, if this engine owns it and gives it new work. */
  owned(sessionId: SessionId): OwnedSession | undefined {
    const session = this.#sessions.get(sessionId)
    return session?.takesWork === true && this.#state === 'working' ? session : undefined
  }

  /** A run was created here, durably. */
  runCreated(run: NewRun, registered: RegisteredDefinition, slot: Slot | undefined): void {
    const { sessionId } = run.record
    const session = this.owned(sessionId)
    if (session === undefined) {
      slot?.release()
      void this.claim(sessionId)
    } else session.runCreated(run, registered, slot)
  }

  /** Something was written that concerns a run, here. */
  nudge(sessionId: SessionId, runId: string): void {
    const session = this.owned(sessionId)
    if (session === undefined) void this.claim(sessionId)
    else session.nudge(runId)
  }

  /** Claims a session, unless another live owner has it. */
  async claim(sessionId: SessionId): Promise<void> {
    if (this.#state !== 'working' || this.services.store.node === undefined) return
    const held = this.#sessions.get(sessionId)
    if (held !== undefined) {
      if (held.takesWork) return
      await held.release()
    }
    const claiming = this.#claims.get(sessionId) ?? this.#claim(sessionId)
    this.#claims.set(sessionId, claiming)
    await claiming
  }

  sessionGone(session: OwnedSession, left: boolean): void {
    const { sessionId } = session
    if (this.#sessions.get(sessionId) === session) this.#sessions.delete(sessionId)
    if (left) this.#left.set(sessionId, this.services.system.now() + leftMs)
  }

  sessionLost(sessionId: SessionId): void {
    if (this.#state === 'working') this.#search?.look(sessionId)
  }

  runEnded(runId: string, end: EndedRun): void {
    const waiting = this.#endings.get(runId)
    this.#endings.delete(runId)
    for (const tell of waiting ?? []) tell(end)
  }

  /** Calls back if the run ends in this process. */
  onEnd(runId: string, tell: (end: EndedRun) => void): () => void {
    const waiting = this.#endings.get(runId) ?? new Set()
    waiting.add(tell)
    this.#endings.set(runId, waiting)
    return () => {
      waiting.delete(tell)
      if (waiting.size === 0 && this.#endings.get(runId) === waiting) this.#endings.delete(runId)
    }
  }

  /** What was let go of for others is not claimed again at once, only because it has work. */
  async #claimFound(sessionId: SessionId): Promise<void> {
    const until = this.#left.get(sessionId)
    if (until !== undefined && this.services.system.now() < until) return
    this.#left.delete(sessionId)
    await this.claim(sessionId)
  }

  async #claim(sessionId: SessionId): Promise<void> {
    const { store, log } = this.services
    try {
      const claim: SessionClaim = await store.claimSession(sessionId)
      if (this.#state !== 'working') {
        await store.releaseSession(claim)
        return
      }
      const session = new OwnedSession(this, claim)
      this.#sessions.set(sessionId, session)
      await session.adoptAll()
    } catch (cause) {
      if (hasErrorCode(cause, ErrorCode.storeOwned) || hasErrorCode(cause, ErrorCode.storeClosed))
        return
      log.write({
        level: 'warn',
        event: 'engine.session.claim_failed',
        message: 'A session could not be taken up; it is tried again.',
        fields: { session_id: sessionId },
        cause,
      })
      this.#sessions.get(sessionId)?.lost(cause)
      this.#search?.look(sessionId)
    } finally {
      this.#claims.delete(sessionId)
    }
  }

  #lost(cause: unknown): void {
    this.#state = 'closed'
    this.#search?.stop()
    this.slots.close()
    for (const session of [...this.#sessions.values()]) session.lost(cause)
  }

  async #drain(patienceMs: number): Promise<void> {
    if (this.#state === 'closed') return
    this.#state = 'draining'
    this.#search?.stop()
    this.slots.close()
    await this.nodes.withdraw()
    await Promise.allSettled(this.#claims.values())
    await this.#bodiesDone(patienceMs)
    await Promise.all([...this.#sessions.values()].map((session) => session.release()))
    this.#state = 'closed'
  }

  async #bodiesDone(patienceMs: number): Promise<void> {
    const { system } = this.services
    for (const session of this.#sessions.values()) session.drain()
    const until = system.now() + patienceMs
    while (
      system.now() < until &&
      [...this.#sessions.values()].some(({ isExecuting }) => isExecuting)
    ) {
      await new Promise<void>((resolve) => {
        system.after(Math.min(drainPollMs, until - system.now()), resolve)
      })
    }
  }
}

const drainPollMs = 20
/** How long others have to take a session that was let go of for them. */
const leftMs = 10_000
const facesKept = 10_000
