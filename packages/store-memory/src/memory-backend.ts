// What the stores over one memory database share, as nodes share a server.
//
// Owns:  the tables, the queue of writes, the leases of nodes and who owns which session.
// Asks:  the system for time and macrotasks.
// Never: reads a clock to judge a fence.
//
// D1. Writes are carried out one after the other, in the order of arrival, in a macrotask: nothing is
//     done by the time that `commit` returns.
// D2. A node that was killed or has lost its lease owns nothing; its fences hold until a takeover.
import {
  configurationInvalid,
  ErrorCode,
  HoldfastError,
  isTerminal,
  Limits,
  wholeNumberOption,
} from '@holdfast/core'
import type { Commit, Receipt, SessionClaim, SessionId, System } from '@holdfast/core'
import { judge, topicsOf, workTopicKey } from '@holdfast/core/commit-rules'
import type { CommitEffect, WatchHub } from '@holdfast/core/commit-rules'
import { system as realSystem } from '@holdfast/core/system'
import { MemoryTables } from './memory-tables.ts'

/** How a memory database behaves. */
export interface MemoryBackendOptions {
  /** Default: the real one. */
  readonly system?: System
  /** How long tombstones stay. Milliseconds. Default 30 days. */
  readonly tombstoneMs?: number
  /** How many commits may wait. Default 10,000. */
  readonly queueCommits?: number
}

/** A node as the database sees it. */
export interface MemoryNode {
  readonly id: string
  live: boolean
  readonly lost: AbortController
  /** Closes the node's store at once. */
  close: () => void
}

interface Job {
  readonly node: MemoryNode | undefined
  readonly run: () => (() => void) | undefined
  readonly drop: (error: HoldfastError) => void
}

/** The database as its stores see it. */
export class MemoryBackend {
  readonly tables: MemoryTables
  readonly system: System
  readonly hubs = new Set<WatchHub>()
  readonly #nodes = new Map<string, MemoryNode>()
  readonly #owners = new Map<SessionId, MemoryNode>()
  readonly #queueCommits: number
  #jobs: Job[] = []
  #commitsWaiting = 0
  #scheduled = false

  constructor(options: MemoryBackendOptions) {
    this.system = options.system ?? realSystem
    this.tables = new MemoryTables(
      wholeNumberOption('tombstoneMs', options.tombstoneMs ?? Limits.tombstoneMs, {
        min: 0,
        max: Number.MAX_SAFE_INTEGER,
      }),
    )
    this.#queueCommits = wholeNumberOption(
      'queueCommits',
      options.queueCommits ?? Limits.storeQueueCommits,
      { min: 1, max: 1_000_000 },
    )
  }

  /** Registers a node. @throws `configuration_invalid` while another store is that node */
  addNode(id: string): MemoryNode {
    if (this.#nodes.get(id)?.live === true) {
      throw configurationInvalid(`Node ${id} has opened this database already.`)
    }
    const node: MemoryNode = {
      id,
      live: true,
      lost: new AbortController(),
      close: () => undefined,
    }
    this.#nodes.set(id, node)
    return node
  }

  kill(id: string): void {
    const node = this.#nodes.get(id)
    if (node === undefined) return
    const dropped = this.#jobs.filter((job) => job.node === node)
    this.#jobs = this.#jobs.filter((job) => job.node !== node)
    for (const job of dropped) job.drop(storeClosed())
    this.endLease(node)
    node.close()
  }

  expireLease(id: string): void {
    const node = this.#nodes.get(id)
    if (node === undefined || !node.live) return
    this.endLease(node)
    node.lost.abort(
      new HoldfastError(ErrorCode.storeUnavailable, { message: `Node ${id} has lost its lease.` }),
    )
  }

  /** A node owns nothing from here on. */
  endLease(node: MemoryNode): void {
    if (!node.live) return
    node.live = false
    this.#fire([workTopicKey])
  }

  commit(commit: Commit, node: MemoryNode | undefined): Promise<Receipt> {
    if (this.#commitsWaiting >= this.#queueCommits) {
      throw new HoldfastError(ErrorCode.storeUnavailable, {
        message: `${this.#queueCommits} commits are waiting; try again later.`,
      })
    }
    this.#commitsWaiting += 1
    return this.#enqueue(node, () => this.#write(commit)).finally(() => {
      this.#commitsWaiting -= 1
    })
  }

  claimSession(sessionId: SessionId, node: MemoryNode): Promise<SessionClaim> {
    return this.#enqueue(node, () => {
      if (!node.live) {
        throw new HoldfastError(ErrorCode.storeUnavailable, {
          message: `Node ${node.id} has lost its lease and can own nothing.`,
        })
      }
      const owner = this.#owners.get(sessionId)
      if (owner?.live === true && owner !== node) {
        throw new HoldfastError(ErrorCode.storeOwned, {
          message: `Session ${sessionId} is owned by node ${owner.id}.`,
          details: { session_id: sessionId, node: owner.id },
        })
      }
      const epoch = (this.tables.view.sessions.get(sessionId)?.epoch ?? 0) + 1
      this.tables.view.sessions.set(sessionId, { epoch })
      this.#owners.set(sessionId, node)
      return { value: { sessionId, epoch } }
    })
  }

  releaseSession(claim: SessionClaim, node: MemoryNode): Promise<void> {
    return this.#enqueue(node, () => {
      const { sessionId, epoch } = claim
      if (this.tables.view.sessions.get(sessionId)?.epoch !== epoch) return { value: undefined }
      if (this.#owners.get(sessionId) !== node) return { value: undefined }
      this.#owners.delete(sessionId)
      return { value: undefined, after: () => this.#fire([workTopicKey]) }
    })
  }

  /** Resolves once everything that was accepted by now is written. */
  settled(): Promise<void> {
    return this.#enqueue(undefined, () => ({ value: undefined }))
  }

  findWork(now: number, limit: number): readonly SessionId[] {
    const found: SessionId[] = []
    for (const [sessionId, runIds] of this.tables.runIds) {
      if (found.length === limit) return found
      if (this.#owners.get(sessionId)?.live === true) continue
      for (const runId of runIds) {
        const run = this.tables.view.runs.get(`${sessionId}/${runId}`)
        if (run?.kind !== 'run' || isTerminal(run.status)) continue
        const wakeAt = run.parked ? run.record().wakeAt : undefined
        if (run.ready || (wakeAt !== undefined && wakeAt <= now)) {
          found.push(sessionId)
          break
        }
      }
    }
    return found
  }

  nextWake(): number | undefined {
    let earliest: number | undefined
    for (const [sessionId, runIds] of this.tables.runIds) {
      if (this.#owners.get(sessionId)?.live === true) continue
      for (const runId of runIds) {
        const run = this.tables.view.runs.get(`${sessionId}/${runId}`)
        if (run?.kind !== 'run' || isTerminal(run.status) || !run.parked) continue
        const { wakeAt } = run.record()
        if (wakeAt !== undefined && (earliest === undefined || wakeAt < earliest)) earliest = wakeAt
      }
    }
    return earliest
  }

  #write(commit: Commit): { readonly value: Receipt; readonly after?: () => void } {
    const now = this.system.now()
    this.tables.expire(now)
    const verdict = judge(this.tables.view, commit)
    switch (verdict.kind) {
      case 'refused':
        throw verdict.error
      case 'repeated':
        return { value: verdict.receipt }
      case 'accepted': {
        for (const effect of verdict.effects) this.tables.apply(effect, now)
        const keys = [...topicsOf(commit, verdict.receipt)]
        const owned = this.#owners.get(commit.sessionId)?.live === true
        if (!owned && verdict.effects.some(isWork)) keys.push(workTopicKey)
        return { value: verdict.receipt, after: () => this.#fire(keys) }
      }
    }
  }

  #fire(keys: readonly string[]): void {
    for (const hub of this.hubs) hub.fire(keys)
  }

  #enqueue<Value>(
    node: MemoryNode | undefined,
    write: () => { readonly value: Value; readonly after?: () => void },
  ): Promise<Value> {
    return new Promise((resolve, reject) => {
      const run = (): (() => void) | undefined => {
        try {
          const { value, after } = write()
          resolve(value)
          return after
        } catch (error) {
          reject(error)
          return undefined
        }
      }
      this.#jobs.push({ node, run, drop: reject })
      if (this.#scheduled) return
      this.#scheduled = true
      this.system.macrotask(() => this.#drain())
    })
  }

  #drain(): void {
    this.#scheduled = false
    const jobs = this.#jobs
    this.#jobs = []
    for (const after of jobs.map((job) => job.run())) after?.()
  }
}

/** Whether a change may make a session work for whoever takes it. */
function isWork(effect: CommitEffect): boolean {
  return effect.kind === 'run-insert' || effect.kind === 'run-update' || effect.kind === 'run-ready'
}

function storeClosed(): HoldfastError {
  return new HoldfastError(ErrorCode.storeClosed, { message: 'The store is closed.' })
}
