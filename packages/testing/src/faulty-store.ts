// A store that fails on purpose.
//
// Owns:  which fault happens to which commit, and the watches that it tears.
// Asks:  the store behind it for everything else.
// Never: changes what a commit writes, or answers with what is not so.
//
// F1. Commits are counted from 1 in the order of asking; a plan names them by that number.
// F2. The same plan over the same commits does the same; what was done is in `injected`.
// F3. What fails `before` was not written; what fails `after`, or whose acknowledgement is lost, was.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Commit, Receipt, Store, System, WatchTopic } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { createSeededRandom } from './seeded-random.ts'

/** What goes wrong with one commit. */
export type FaultKind =
  /** Nothing is written; `store_unavailable`, which may be tried again. */
  | 'fail-before'
  /** It is written; its caller is told `store_outcome_unknown`. */
  | 'fail-after'
  /** It is written; its caller never hears of it, until the store closes. */
  | 'lose-acknowledgement'
  /** It reaches the store later than commits that were asked for after it. */
  | 'delay'
  /** Another claim takes the session first: its fence, and all later ones of that claim, fail. */
  | 'take-session'
  /** Every watch that is open ends with `store_unavailable`, and so does not tell of it; then it is written. */
  | 'tear-watches'
  /** Once it is written, the node is told that its lease is lost. */
  | 'lose-node'

/** One fault. */
export interface Fault {
  /** The number of the commit, from 1. */
  readonly commit: number
  readonly kind: FaultKind
}

/** Which faults happen. */
export interface FaultPlan {
  readonly faults?: readonly Fault[]
  /** Faults at random commits: each has one with this probability, of these kinds. */
  readonly random?: {
    readonly seed: number
    readonly rate: number
    readonly kinds: readonly FaultKind[]
  }
  /** How long a `delay` holds a commit. Milliseconds. Default 20. */
  readonly delayMs?: number
  /** For delays. Default: the real one. */
  readonly system?: System
}

/** A store with faults. */
export interface FaultyStore extends Store {
  /** What was done so far, oldest first: a plan that replays it. */
  readonly injected: readonly Fault[]
  /** How many commits were asked for. */
  readonly commits: number
}

/** Wraps a store so that it fails as planned. Closing it closes the store behind it. */
export function faultyStore(store: Store, plan: FaultPlan): FaultyStore {
  const system = plan.system ?? realSystem
  const random = createSeededRandom(plan.random?.seed ?? 0)
  const planned = new Map(plan.faults?.map(({ commit, kind }) => [commit, kind]))
  const injected: Fault[] = []
  const lost = new AbortController()
  const closed = new AbortController()
  let torn = new AbortController()
  let commits = 0

  const { node } = store
  node?.lost.addEventListener('abort', () => lost.abort(node.lost.reason), { once: true })

  return {
    injected,
    get commits() {
      return commits
    },
    node: node === undefined ? undefined : { id: node.id, lost: lost.signal },
    commit(commit) {
      commits += 1
      const kind = nextFault(commits)
      if (kind === undefined) return store.commit(commit)
      injected.push({ commit: commits, kind })
      return inject(kind, commit)
    },
    watch: (topic, signal) => watch(topic, signal),
    async close() {
      closed.abort(failure(ErrorCode.storeClosed, 'The store is closed.'))
      await store.close()
    },
    run: (...request) => store.run(...request),
    runs: (...request) => store.runs(...request),
    runByIdempotencyKey: (...request) => store.runByIdempotencyKey(...request),
    input: (...request) => store.input(...request),
    blob: (...request) => store.blob(...request),
    journal: (...request) => store.journal(...request),
    streamPage: (...request) => store.streamPage(...request),
    streamHead: (...request) => store.streamHead(...request),
    logPage: (...request) => store.logPage(...request),
    logEntry: (...request) => store.logEntry(...request),
    document: (...request) => store.document(...request),
    documents: (...request) => store.documents(...request),
    findWork: (...request) => store.findWork(...request),
    nextWake: () => store.nextWake(),
    claimSession: (sessionId) => store.claimSession(sessionId),
    releaseSession: (claim) => store.releaseSession(claim),
  }

  function nextFault(commit: number): FaultKind | undefined {
    const kind = planned.get(commit)
    if (plan.random === undefined) return kind
    const { rate, kinds } = plan.random
    // Both are drawn for every commit, so that a planned fault shifts no later one.
    const hits = random.next() < rate
    const drawn = kinds[random.below(kinds.length)]
    return kind ?? (hits ? drawn : undefined)
  }

  async function inject(kind: FaultKind, commit: Commit): Promise<Receipt> {
    switch (kind) {
      case 'fail-before':
        throw failure(ErrorCode.storeUnavailable, 'The store failed before the commit, as planned.')
      case 'fail-after':
        await store.commit(commit)
        throw failure(
          ErrorCode.storeOutcomeUnknown,
          'The store failed after the commit, as planned.',
        )
      case 'lose-acknowledgement':
        await store.commit(commit)
        return untilClosed()
      case 'delay':
        await new Promise<void>((resolve) => system.after(plan.delayMs ?? 20, resolve))
        return store.commit(commit)
      case 'take-session':
        await store.claimSession(commit.sessionId)
        return store.commit(commit)
      case 'tear-watches':
        torn.abort()
        torn = new AbortController()
        return store.commit(commit)
      case 'lose-node': {
        const receipt = await store.commit(commit)
        lost.abort(failure(ErrorCode.storeUnavailable, 'The node has lost its lease, as planned.'))
        return receipt
      }
    }
  }

  function untilClosed(): Promise<never> {
    return new Promise((_resolve, reject) => {
      const stop = (): void => reject(failure(ErrorCode.storeClosed, 'The store is closed.'))
      if (closed.signal.aborted) stop()
      else closed.signal.addEventListener('abort', stop, { once: true })
    })
  }

  function watch(topic: WatchTopic, signal: AbortSignal): AsyncIterableIterator<void> {
    const tear = torn.signal
    const inner = store.watch(topic, AbortSignal.any([signal, tear]))[Symbol.asyncIterator]()
    return {
      async next() {
        const result = await inner.next()
        if (tear.aborted && !signal.aborted) {
          throw failure(ErrorCode.storeUnavailable, 'The watch was torn, as planned.')
        }
        return result
      },
      async return() {
        await inner.return?.()
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]() {
        return this
      },
    }
  }
}

function failure(code: ErrorCode, message: string): HoldfastError {
  return new HoldfastError(code, { message })
}
