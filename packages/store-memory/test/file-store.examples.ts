// #region store
import { closeSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { ErrorCode, HoldfastError, isTerminal, Limits } from '@holdfast/core'
import type { Commit, Receipt, SessionClaim, SessionId, Store, System } from '@holdfast/core'
import * as rules from '@holdfast/core/commit-rules'
import { system as realSystem } from '@holdfast/core/system'
import { createMemoryRows } from '@holdfast/store-memory'
import type { MemoryRows } from '@holdfast/store-memory'

/** What the file has, a line each: what was accepted, in the order in which it was. */
type Line = { readonly commit: Commit; readonly now: number } | { readonly claim: SessionClaim }
type Written<Value> = { value: Value; line?: Line; topics?: readonly string[] }
type Node = { readonly id: string; isLive: boolean; readonly lost: AbortController }
type Options = { system?: System; tombstoneMs?: number; queueCommits?: number }

/** A database in one file of JSON lines, for several stores in one process. */
export class FileDatabase {
  readonly #rows: MemoryRows
  readonly #owners = new Map<SessionId, Node>()
  readonly #hubs = new Set<rules.WatchHub>()
  readonly #system: System
  readonly #queueCommits: number
  readonly #file: number
  #jobs: { run: () => Omit<Written<unknown>, 'value'>; settle: (failure?: Error) => void }[] = []
  #isBroken = false

  constructor(path: string, { system = realSystem, tombstoneMs, queueCommits }: Options = {}) {
    this.#system = system
    this.#queueCommits = queueCommits ?? Limits.storeQueueCommits
    this.#rows = createMemoryRows({
      tombstoneMs: tombstoneMs ?? Limits.tombstoneMs,
      now: () => system.now(),
    })
    this.#file = openSync(path, 'a+')
    const bytes = readFileSync(path)
    // What a crash cut off in the middle was never acknowledged.
    const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
    ftruncateSync(this.#file, whole.length)
    for (const text of whole.toString().split('\n').slice(0, -1)) {
      const line = JSON.parse(text, decodeBytes) as Line
      if ('commit' in line) this.#accept(line.commit, line.now)
      else this.#rows.view.sessions.set(line.claim.sessionId, line.claim)
    }
  }

  /** Opens a store over it: a node of its own, or a client. */
  open(mode: 'owner' | 'client' = 'owner'): Store & { cutOff(): void } {
    const lost = new AbortController()
    const node = mode === 'owner' ? { id: this.#system.uuid(), isLive: true, lost } : undefined
    const hub = rules.createWatchHub()
    this.#hubs.add(hub)
    let closing: Promise<void> | undefined
    const open = (): MemoryRows['reads'] => {
      if (closing === undefined && !this.#isBroken) return this.#rows.reads
      throw failure(ErrorCode.storeClosed, 'The store is closed.')
    }
    const end = (): void => {
      if (node !== undefined) node.isLive = false
      this.#fire([rules.workTopicKey])
    }
    return {
      node: node && { id: node.id, lost: lost.signal },
      commit: async (commit) => {
        open()
        rules.checkCommit(commit)
        if (this.#jobs.length >= this.#queueCommits) {
          throw failure(ErrorCode.storeUnavailable, 'Too many commits wait.')
        }
        const copy = structuredClone(commit)
        return this.#enqueue(() => this.#accept(copy, this.#system.now()))
      },
      claimSession: async (sessionId) => {
        open()
        rules.checkSessionId(sessionId)
        if (node === undefined) throw failure(ErrorCode.storeReadOnly, 'A client owns nothing.')
        return this.#enqueue(() => this.#claim(sessionId, node))
      },
      releaseSession: async ({ sessionId, epoch }) => {
        open()
        await this.#enqueue(() => {
          const isNewest = this.#rows.view.sessions.get(sessionId)?.epoch === epoch
          if (!isNewest || this.#owners.get(sessionId) !== node) return { value: undefined }
          this.#owners.delete(sessionId)
          return { value: undefined, topics: [rules.workTopicKey] }
        })
      },
      run: async (...request) => open().run(...request),
      runs: async (...request) => open().runs(...request),
      runByIdempotencyKey: async (...request) => open().runByIdempotencyKey(...request),
      input: async (...request) => open().input(...request),
      blob: async (...request) => open().blob(...request),
      journal: async (...request) => open().journal(...request),
      streamPage: async (...request) => open().streamPage(...request),
      streamHead: async (...request) => open().streamHead(...request),
      logPage: async (...request) => open().logPage(...request),
      logEntry: async (...request) => open().logEntry(...request),
      document: async (...request) => open().document(...request),
      documents: async (...request) => open().documents(...request),
      findWork: async (now, limit) => {
        const due = open() && this.#free(({ ready, wakeAt = Infinity }) => ready || wakeAt <= now)
        return [...new Set(due.map(({ sessionId }) => sessionId))].slice(0, limit)
      },
      nextWake: async () => {
        const parked = open() && this.#free(({ wakeAt }) => wakeAt !== undefined)
        return parked.flatMap(({ wakeAt }) => wakeAt ?? []).toSorted((a, b) => a - b)[0]
      },
      watch: (topic, signal) => hub.watch(topic, signal),
      close: () => {
        closing ??= this.#enqueue(() => ({ value: undefined })).finally(() => {
          hub.close()
          this.#hubs.delete(hub)
          end()
        })
        return closing
      },
      cutOff: end,
    }
  }

  /** Lets go of the file, once every store is closed. */
  close(): void {
    closeSync(this.#file)
  }

  /** Judges a commit, and applies it: within the drain, so that no read comes between. */
  #accept(commit: Commit, now: number): Written<Receipt> {
    this.#rows.expire(now)
    const verdict = rules.judge(this.#rows.view, commit)
    if (verdict.kind === 'refused') throw verdict.error
    if (verdict.kind === 'repeated') return { value: verdict.receipt }
    for (const effect of verdict.effects) this.#rows.apply(effect, now)
    const work = this.#isFree(commit.sessionId) ? [rules.workTopicKey] : []
    const topics = [...rules.topicsOf(commit, verdict.receipt), ...work]
    return { value: verdict.receipt, line: { commit, now }, topics }
  }

  #claim(sessionId: SessionId, node: Node): Written<SessionClaim> {
    if (!node.isLive) throw failure(ErrorCode.storeUnavailable, 'The node has lost its lease.')
    if (!this.#isFree(sessionId) && this.#owners.get(sessionId) !== node) {
      throw failure(ErrorCode.storeOwned, 'Another node owns the session.')
    }
    const epoch = (this.#rows.view.sessions.get(sessionId)?.epoch ?? 0) + 1
    const claim = { sessionId, epoch }
    this.#rows.view.sessions.set(sessionId, claim)
    this.#owners.set(sessionId, node)
    return { value: claim, line: { claim } }
  }

  #enqueue<Value>(write: () => Written<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      let settle: () => void
      const run = (): Omit<Written<Value>, 'value'> => {
        try {
          const { value, ...rest } = write()
          settle = () => resolve(value)
          return rest
        } catch (error) {
          settle = () => reject(error)
          return {}
        }
      }
      this.#jobs.push({ run, settle: (broken) => (broken ? reject(broken) : settle()) })
      if (this.#jobs.length === 1) this.#system.macrotask(() => this.#drain())
    })
  }

  /** Group commit: what came since the last time is judged in order, written and synced once. */
  #drain(): void {
    const jobs = this.#jobs
    this.#jobs = []
    const written = jobs.map(({ run }) => run())
    const lines = written.flatMap(({ line }) =>
      line ? `${JSON.stringify(line, encodeBytes)}\n` : [],
    )
    try {
      let rest = Buffer.from(lines.join(''))
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#file, rest))
      if (lines.length > 0) fsyncSync(this.#file)
    } catch (cause) {
      // Nobody knows what the disk has: it is read anew when the database is opened again.
      this.#isBroken = true
      const broken = failure(ErrorCode.storeOutcomeUnknown, 'The file was not written.', cause)
      for (const { settle } of jobs) settle(broken)
      for (const hub of this.#hubs) hub.close()
      return
    }
    for (const { settle } of jobs) settle()
    this.#fire(written.flatMap(({ topics = [] }) => topics))
  }

  #fire(topics: readonly string[]): void {
    for (const hub of this.#hubs) hub.fire(topics)
  }

  #isFree(sessionId: SessionId): boolean {
    return this.#owners.get(sessionId)?.isLive !== true
  }

  /** Runs that have not ended, of sessions without a live owner. */
  #free(holds: (run: { ready: boolean; wakeAt?: number }) => boolean) {
    return [...this.#rows.view.runs.values()].flatMap((run) => {
      if (run.kind !== 'run' || isTerminal(run.status)) return []
      const { sessionId, wakeAt } = run.record()
      const found = {
        sessionId,
        ready: run.ready,
        ...(run.parked && wakeAt !== undefined ? { wakeAt } : {}),
      }
      return this.#isFree(sessionId) && holds(found) ? found : []
    })
  }
}

// Bytes stand as `{ "bytes": "\0<base64>" }`: no text of a commit has U+0000.
const encodeBytes = (_name: string, value: unknown): unknown =>
  value instanceof Uint8Array ? `\0${Buffer.from(value).toString('base64')}` : value

const decodeBytes = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('\0')
    ? new Uint8Array(Buffer.from(value.slice(1), 'base64'))
    : value

function failure(code: ErrorCode, message: string, cause?: unknown): HoldfastError {
  return new HoldfastError(code, { message, cause })
}
// #endregion store
