// A store that fails on purpose.
//
// Owns:  what happens to each commit and each call, in the place of the store behind it.
// Asks:  the store behind it for everything else.
// Never: changes what a commit writes, or answers with what is not so.
//
// F1. Commits are counted from 1 in the order of asking, other calls too; a plan names them by number.
// F2. The same plan over the same commits and calls does the same; what was done is in `injected`.
// F3. What fails `before` was not written; what fails `after`, or whose acknowledgement is lost, was.
// F4. Commits of one session reach the store in the order of asking, whatever is held.
// F5. Closing ends every wait: what was held is written first, and what was lost is told so.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { Commit, Receipt, SessionId, Store } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { faultSource } from './fault-source.ts'
import type { CommitFault } from './fault-source.ts'
import type { Fault, FaultPlan, StoreCall } from './faults.ts'
import { faultyWatches } from './faulty-watches.ts'

/** A store with faults. */
export interface FaultyStore extends Store {
  /** What was done so far, oldest first: the `faults` of a plan that replays it. */
  readonly injected: readonly Fault[]
  /** How many commits were asked for. */
  readonly commits: number
  /** How many other calls were made: reads, and those of ownership. */
  readonly calls: number
}

/**
 * Wraps a store so that it fails as planned. Closing it closes the store behind it.
 *
 * @throws `configuration_invalid`
 */
export function faultyStore(store: Store, plan: FaultPlan): FaultyStore {
  const system = plan.system ?? realSystem
  const source = faultSource(plan)
  const watches = faultyWatches(store)
  const injected: Fault[] = []
  const lost = new AbortController()
  const closing = new AbortController()
  const held = new Map<SessionId, Promise<unknown>>()
  let commits = 0
  let calls = 0

  const { node } = store
  node?.lost.addEventListener('abort', () => lost.abort(node.lost.reason), { once: true })
  if (node?.lost.aborted === true) lost.abort(node.lost.reason)

  return {
    injected,
    get commits() {
      return commits
    },
    get calls() {
      return calls
    },
    node: node === undefined ? undefined : { id: node.id, lost: lost.signal },
    commit(commit) {
      commits += 1
      const fault = closing.signal.aborted ? undefined : source.ofCommit(commits, commit)
      if (fault === undefined) return written(commit)
      injected.push(fault)
      return inject(fault, commit)
    },
    watch: (topic, signal) => watches.watch(topic, signal),
    async close() {
      closing.abort()
      await Promise.allSettled(held.values())
      await store.close()
    },
    run: (...request) => called('run', () => store.run(...request)),
    runs: (...request) => called('runs', () => store.runs(...request)),
    runByIdempotencyKey: (...request) =>
      called('runByIdempotencyKey', () => store.runByIdempotencyKey(...request)),
    input: (...request) => called('input', () => store.input(...request)),
    blob: (...request) => called('blob', () => store.blob(...request)),
    journal: (...request) => called('journal', () => store.journal(...request)),
    streamPage: (...request) => called('streamPage', () => store.streamPage(...request)),
    streamHead: (...request) => called('streamHead', () => store.streamHead(...request)),
    logPage: (...request) => called('logPage', () => store.logPage(...request)),
    logEntry: (...request) => called('logEntry', () => store.logEntry(...request)),
    document: (...request) => called('document', () => store.document(...request)),
    documents: (...request) => called('documents', () => store.documents(...request)),
    findWork: (...request) => called('findWork', () => store.findWork(...request)),
    nextWake: () => called('nextWake', () => store.nextWake()),
    claimSession: (sessionId) => called('claimSession', () => store.claimSession(sessionId)),
    releaseSession: (claim) => called('releaseSession', () => store.releaseSession(claim)),
  }

  async function called<Answer>(name: StoreCall, call: () => Promise<Answer>): Promise<Answer> {
    calls += 1
    const fault = closing.signal.aborted ? undefined : source.ofCall(calls, name)
    if (fault === undefined) return call()
    injected.push(fault)
    switch (fault.kind) {
      case 'fail-call':
        throw failure(ErrorCode.storeUnavailable, `The call of ${name} failed, as planned.`)
      case 'delay-call': {
        const answer = await call()
        await pause(fault.ms)
        return answer
      }
    }
  }

  async function inject(fault: CommitFault, commit: Commit): Promise<Receipt> {
    switch (fault.kind) {
      case 'fail-before':
        throw failure(ErrorCode.storeUnavailable, 'The store failed before the commit, as planned.')
      case 'fail-after':
        await written(commit)
        throw failure(
          ErrorCode.storeOutcomeUnknown,
          'The store failed after the commit, as planned.',
        )
      case 'lose-acknowledgement':
        await written(commit)
        return untilClosing()
      case 'late-acknowledgement': {
        const receipt = await written(commit)
        await pause(fault.ms)
        return receipt
      }
      case 'delay':
        return written(commit, pause(fault.ms))
      case 'take-session':
        await (plan.takeSession ?? ((sessionId) => store.claimSession(sessionId)))(commit.sessionId)
        return written(commit)
      case 'lose-node': {
        const receipt = await written(commit)
        lost.abort(failure(ErrorCode.storeUnavailable, 'The node has lost its lease, as planned.'))
        return receipt
      }
      case 'close-store':
        closing.abort()
        await store.close()
        throw closedAsPlanned()
      case 'tear-watches':
        watches.tear()
        return written(commit)
      case 'end-watches':
        watches.end()
        return written(commit)
      case 'fire-watches':
        watches.fire()
        return written(commit)
      case 'hold-watches':
        watches.hold(pause(fault.ms))
        return written(commit)
      case 'crash-before':
        plan.crash?.()
        throw closedAsPlanned()
      case 'crash-after':
        await written(commit)
        plan.crash?.()
        throw closedAsPlanned()
    }
  }

  /** Writes a commit once a pause is over, behind whatever of its session is held. */
  function written(commit: Commit, until?: Promise<void>): Promise<Receipt> {
    const before = held.get(commit.sessionId)
    if (before === undefined && until === undefined) return store.commit(commit)
    // What the caller changes while the commit is held is not of the commit.
    const copy = structuredClone(commit)
    const writing = Promise.allSettled([before, until]).then(() => store.commit(copy))
    held.set(commit.sessionId, writing)
    const forget = (): void => {
      if (held.get(commit.sessionId) === writing) held.delete(commit.sessionId)
    }
    writing.then(forget, forget)
    return writing
  }

  /** Lets time pass, unless the store closes first. */
  function pause(ms = 0): Promise<void> {
    return new Promise((resolve) => {
      const cancel = system.after(ms, resolve)
      const stop = (): void => {
        cancel()
        resolve()
      }
      if (closing.signal.aborted) stop()
      else closing.signal.addEventListener('abort', stop, { once: true })
    })
  }

  function untilClosing(): Promise<never> {
    return new Promise((_resolve, reject) => {
      const stop = (): void => reject(failure(ErrorCode.storeClosed, 'The store is closed.'))
      if (closing.signal.aborted) stop()
      else closing.signal.addEventListener('abort', stop, { once: true })
    })
  }
}

function closedAsPlanned(): HoldfastError {
  return failure(ErrorCode.storeClosed, 'The store is closed, as planned.')
}

function failure(code: ErrorCode, message: string): HoldfastError {
  return new HoldfastError(code, { message })
}
