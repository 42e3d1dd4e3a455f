import type { StoreDatabase } from '@holdfast/conformance'
import {
  ErrorCode,
  hasErrorCode,
  HoldfastError,
  isStoreConflict,
  StoreConflictError,
} from '@holdfast/core'
import type { Commit, ConflictFacts, JournalRow, Receipt, Store, StoreWrite } from '@holdfast/core'
import { system } from '@holdfast/core/system'

/** One way in which a store can be wrong, and the groups or tests of the suite that have to find it. */
export interface Sabotage {
  readonly caughtBy: readonly string[]
  readonly store?: (store: Store) => Partial<Store>
  readonly database?: (database: StoreDatabase) => Partial<StoreDatabase>
}

/** The epoch of the newest claim of each session, by any node. */
const newestEpochs = new Map<string, number>()
/** The ids of commits that were refused. */
const refusedIds = new Set<string>()
/** The runs that were purged, of whatever session. */
const purgedRuns = new Set<string>()

/** Which session made a run with an idempotency key first. */
const heldKeys = new Map<string, string>()
/** The journals of runs as they were when they were purged. */
const knownJournals = new Map<string, readonly JournalRow[]>()

export const sabotages: Readonly<Record<string, Sabotage>> = {
  'takes an old epoch for the newest': {
    caughtBy: ['a fence of another epoch', 'commits of one moment beside a claim'],
    store: (store) => ({
      commit: ({ fence, ...commit }) => {
        const epoch = newestEpochs.get(commit.sessionId) ?? fence?.epoch ?? 0
        return store.commit({ ...commit, ...(fence === undefined ? {} : { fence: { epoch } }) })
      },
      async claimSession(sessionId) {
        const claim = await store.claimSession(sessionId)
        newestEpochs.set(sessionId, claim.epoch)
        return claim
      },
    }),
  },
  'says done before it is': {
    caughtBy: ['a commit writes everything of it', 'a conflict of run-exists'],
    store: (store) => ({
      commit: async (commit) => {
        void store.commit(commit).catch(() => undefined)
        return { results: commit.writes.map(() => ({ kind: 'done' as const })) }
      },
    }),
  },
  'drops the last write of a commit': {
    caughtBy: ['a commit writes everything of it'],
    store: changing((writes) => (writes.length > 1 ? writes.slice(0, -1) : writes)),
  },
  'writes each write of a commit by itself': {
    caughtBy: ['a commit writes nothing of it', 'a conflict of', 'a read answers with what was so'],
    store: (store) => ({
      async commit({ writes, commitId, ...commit }) {
        const results: Receipt['results'][number][] = []
        for (const [index, write] of writes.entries()) {
          const id = commitId === undefined ? {} : { commitId: `${commitId}-${index}` }
          results.push(...(await store.commit({ ...commit, ...id, writes: [write] })).results)
        }
        return { results }
      },
    }),
  },
  'keeps what a refused commit wrote before it was refused': {
    caughtBy: ['a commit writes nothing of it', 'a conflict of run-ended'],
    store: (store) => ({
      commit: (commit) =>
        store.commit(commit).catch(async (error: unknown) => {
          if (isStoreConflict(error)) {
            const writes = commit.writes.slice(0, error.facts.write)
            await store.commit({ ...withoutId(commit), writes }).catch(() => undefined)
          }
          throw error
        }),
    }),
  },
  'does not say which write was refused': {
    caughtBy: ['a conflict of document-revision'],
    store: conflicting((facts) => ({ ...facts, write: 0 })),
  },
  'takes a purged run for one that never was': {
    caughtBy: ['a conflict of run-purged', 'a purge'],
    store: conflicting((facts) =>
      facts.reason === 'run-purged' ? { ...facts, reason: 'run-absent' } : facts,
    ),
  },
  'does not say who holds a key': {
    caughtBy: ['a conflict of idempotency-key', 'a run tells who holds an idempotency key'],
    store: conflicting(({ reason, write, inputDigest = '' }) => ({ reason, write, inputDigest })),
  },
  'fails good commits beside a bad one': {
    caughtBy: [
      'a commit that is bad fails alone',
      'a conflict of',
      'commits of one moment find each head',
    ],
    store(store) {
      let moment: Promise<unknown>[] = []
      return {
        async commit(commit) {
          const outcome = store.commit(commit)
          const together = moment
          together.push(outcome)
          system.macrotask(() => {
            if (moment === together) moment = []
          })
          const outcomes = await Promise.allSettled(together)
          for (const one of outcomes) if (one.status === 'rejected') throw one.reason
          return outcome
        },
      }
    },
  },
  'judges commits in an order of its own': {
    caughtBy: ['a commit is judged in the order', 'commits of one moment of many sessions'],
    store(store) {
      let count = 0
      return {
        async commit(commit) {
          count += 1
          const copy = structuredClone(commit)
          if (count % 5 < 2) await new Promise<void>((resolve) => system.macrotask(resolve))
          return store.commit(copy)
        },
      }
    },
  },
  'forgets commit ids': {
    caughtBy: ['a repeated commit id', 'a commit of which nobody knows', 'two handles at the same'],
    store: (store) => ({
      commit: (commit) => store.commit(withoutId(commit)),
    }),
  },
  'keeps the ids of refused commits': {
    caughtBy: ['a conflict of log-grown', 'a repeated commit id is refused for another content'],
    store: (store) => ({
      async commit(commit) {
        const id = `${commit.sessionId}/${commit.commitId ?? ''}`
        if (refusedIds.has(id)) throw coded(ErrorCode.argumentsInvalid)
        try {
          return await store.commit(commit)
        } catch (error) {
          if (commit.commitId !== undefined) refusedIds.add(id)
          throw error
        }
      },
    }),
  },
  'skips what should fail': {
    caughtBy: [
      'a commit of which nobody knows the outcome, and that has no id',
      'a log',
      'an inbox',
    ],
    store: changing((writes) =>
      writes.map((write) =>
        write.kind === 'log-append' ? { ...write, onFailure: 'skip' as const } : write,
      ),
    ),
  },
  'lets the last put of a document win': {
    caughtBy: ['a document', 'a conflict of document-revision'],
    store: (store) => ({
      async commit(commit) {
        const copy = structuredClone(commit)
        const writes: StoreWrite[] = []
        for (const write of copy.writes) {
          if (write.kind !== 'document-put') writes.push(write)
          else {
            const { collection, key } = write
            const known = await store.document(commit.sessionId, collection, key)
            writes.push({ ...write, expectedRevision: known?.revision ?? 0 })
          }
        }
        return store.commit({ ...copy, writes })
      },
    }),
  },
  'ignores guards': {
    caughtBy: ['an inbox is guarded', 'a conflict of inbox-full', 'a conflict of stream-number'],
    store: changing((writes) =>
      writes.map((write) => {
        if (write.kind !== 'log-append') return write
        const { guard: ignored, ...unguarded } = write
        void ignored
        return unguarded
      }),
    ),
  },
  'ignores that a log has grown': {
    caughtBy: ['an inbox that grew stops the end', 'two handles at the same moment that end a run'],
    store: changing((writes) => writes.filter(({ kind }) => kind !== 'log-unchanged')),
  },
  'takes a stream that is closed for an open one': {
    caughtBy: ['a stream is closed once', 'a conflict of stream-closed'],
    store: changing((writes) => writes.filter(({ kind }) => kind !== 'stream-close')),
  },
  'reads a head apart from what it is the head of': {
    caughtBy: ['a read answers with what was so'],
    store: (store) => ({
      async streamPage(...request) {
        const head = await store.streamHead(request[0], request[1])
        await new Promise<void>((resolve) => system.macrotask(resolve))
        const page = await store.streamPage(...request)
        return page === undefined || head === undefined ? page : { ...page, head }
      },
    }),
  },
  'gives pages of any size': {
    caughtBy: ['a read that is paged takes as many', 'a list of runs'],
    store: (store) => ({
      runs: (sessionId, request) =>
        store.runs(sessionId, { ...request, limit: Math.min(100, request?.limit ?? 50) }),
    }),
  },
  'leaves the newest out of a page': {
    caughtBy: ['a stream gives from every index'],
    store: (store) => ({
      async streamPage(...request) {
        const page = await store.streamPage(...request)
        return page === undefined ? page : { ...page, chunks: page.chunks.slice(0, -1) }
      },
    }),
  },
  'loses the head of a journal when the next revision has none': {
    caughtBy: ['a journal shows the newest head'],
    store: changing((writes) =>
      writes.map((write) =>
        write.kind === 'journal-append' && write.head === undefined
          ? { ...write, head: {} }
          : write,
      ),
    ),
  },
  'watches nothing': {
    caughtBy: ['a watch'],
    store: () => ({ watch: () => (async function* () {})() }),
  },
  'watches only what its own handle writes': {
    caughtBy: ['a watch of another handle'],
    store: (store) => ({
      watch: (topic, signal) =>
        store.node === undefined
          ? (async function* () {
              yield
            })()
          : store.watch(topic, signal),
    }),
  },
  'finds no work': {
    caughtBy: ['work is a pending run'],
    store: () => ({ findWork: async () => [] }),
  },
  'knows no time of waking': {
    caughtBy: ['work that is to come'],
    store: () => ({ nextWake: async () => undefined }),
  },
  'lets anybody claim': {
    caughtBy: ['a client', 'a session is owned by one live node'],
    store: (store) => ({
      claimSession: async (sessionId) => {
        try {
          return await store.claimSession(sessionId)
        } catch {
          return { sessionId, epoch: 1 }
        }
      },
    }),
  },
  'knows idempotency keys of other sessions': {
    caughtBy: ['an idempotency key beside an absent session'],
    store(store) {
      const held = heldKeys
      return {
        async commit(commit) {
          for (const [write, one] of commit.writes.entries()) {
            if (one.kind !== 'run-create' || one.idempotencyKey === undefined) continue
            const holder = held.get(one.idempotencyKey)
            if (holder !== undefined && holder !== commit.sessionId) {
              throw new StoreConflictError({ reason: 'idempotency-key', write })
            }
            held.set(one.idempotencyKey, commit.sessionId)
          }
          return store.commit(commit)
        },
      }
    },
  },
  'reads what is not there as empty': {
    caughtBy: ['what does not exist reads as absent'],
    store: (store) => ({
      streamHead: async (...request) =>
        (await store.streamHead(...request)) ?? { first: 0, next: 0 },
    }),
  },
  'refuses what is exactly at its limit': {
    caughtBy: ['a limit holds to the byte for each kind of write'],
    store: (store) => ({
      async commit(commit) {
        for (const write of commit.writes) {
          if (
            write.kind === 'document-put' &&
            new TextEncoder().encode(write.value).length >= 65_536
          ) {
            throw coded(ErrorCode.limitExceeded)
          }
        }
        return store.commit(commit)
      },
    }),
  },
  'counts characters for bytes': {
    caughtBy: ['a limit holds to the byte for each kind of write', 'a limit holds for names'],
    // What is over its limit in bytes, and not in characters, is taken, and cut.
    store: changing((writes) =>
      writes.map((write) =>
        write.kind === 'log-append'
          ? { ...write, key: cut(write.key, 512), value: cut(write.value, 8 * 1_048_576) }
          : write,
      ),
    ),
  },
  'forgets what it purged': {
    caughtBy: ['a purge'],
    store: (store) => ({
      streamHead: (...request) => store.streamHead(...request).catch(unlessGone),
      streamPage: (...request) => store.streamPage(...request).catch(unlessGone),
    }),
  },
  'tells everybody what was purged': {
    caughtBy: ['a purge is told by each read'],
    store: (store) => ({
      async commit(commit) {
        const receipt = await store.commit(commit)
        for (const write of commit.writes) {
          if (write.kind === 'run-purge') purgedRuns.add(write.runId)
        }
        return receipt
      },
      async streamHead(sessionId, streamId) {
        if (purgedRuns.has(streamId)) throw coded(ErrorCode.streamGone)
        return store.streamHead(sessionId, streamId)
      },
    }),
  },
  'keeps the journal of a purged run': {
    caughtBy: ['a purge removes a run'],
    store(store) {
      const known = knownJournals
      return {
        async commit(commit) {
          for (const write of commit.writes) {
            if (write.kind !== 'run-purge') continue
            const { sessionId } = commit
            const rows = await store.journal(sessionId, write.runId, { from: 0, limit: 1_000 })
            known.set(`${sessionId}/${write.runId}`, rows)
          }
          return store.commit(commit)
        },
        journal: async (sessionId, runId, request) =>
          known.get(`${sessionId}/${runId}`) ?? (await store.journal(sessionId, runId, request)),
      }
    },
  },
  'drops what waits when it closes': {
    caughtBy: ['a store that closes finishes what it accepted'],
    store(store) {
      const closing = new AbortController()
      return {
        commit: (commit) =>
          Promise.race([
            store.commit(commit),
            new Promise<never>((_resolve, reject) => {
              const stop = (): void => reject(coded(ErrorCode.storeClosed))
              closing.signal.addEventListener('abort', stop, { once: true })
            }),
          ]),
        close() {
          closing.abort()
          return store.close()
        },
      }
    },
  },
  'cannot be opened twice at once': {
    caughtBy: ['a database that is empty is opened by several at once'],
    database(database) {
      let isOpening = false
      const open = async (make: () => Promise<Store>): Promise<Store> => {
        if (isOpening) throw coded(ErrorCode.storeUnavailable)
        isOpening = true
        await new Promise<void>((resolve) => system.macrotask(resolve))
        isOpening = false
        return make()
      }
      return {
        open: () => open(() => database.open()),
        openClient: () => open(() => database.openClient()),
      }
    },
  },
  'forgets its tombstones when it is opened again': {
    caughtBy: ['a database has its tombstones'],
    database(database) {
      let opened = 0
      return {
        async open() {
          opened += 1
          const store = await database.open()
          if (opened === 1) return store
          return changed(store, {
            streamHead: (...request) => store.streamHead(...request).catch(unlessGone),
          })
        },
      }
    },
  },
}

/** The store, with some of its methods replaced. */
export function changed(store: Store, changes: Partial<Store>): Store {
  return new Proxy(store, {
    get(target, name) {
      const replaced = Reflect.get(changes, name) as unknown
      if (replaced !== undefined) return replaced
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function withoutId(commit: Commit): Commit {
  const { commitId: ignored, ...rest } = commit
  void ignored
  return rest
}

function changing(
  change: (writes: readonly StoreWrite[]) => readonly StoreWrite[],
): (store: Store) => Partial<Store> {
  return (store) => ({
    commit: (commit: Commit) => store.commit({ ...commit, writes: change(commit.writes) }),
  })
}

function conflicting(
  change: (facts: ConflictFacts) => ConflictFacts,
): (store: Store) => Partial<Store> {
  return (store) => ({
    commit: (commit: Commit) =>
      store.commit(commit).catch((error: unknown) => {
        throw isStoreConflict(error) ? new StoreConflictError(change(error.facts)) : error
      }),
  })
}

function cut(text: string, length: number): string {
  const encoded = new TextEncoder().encode(text)
  return text.length > length || encoded.length <= length
    ? text
    : text.slice(0, length - (encoded.length - text.length))
}

function unlessGone(error: unknown): undefined {
  if (!hasErrorCode(error, ErrorCode.streamGone)) throw error
}

function coded(code: ErrorCode): HoldfastError {
  return new HoldfastError(code, { message: 'As sabotaged.' })
}
