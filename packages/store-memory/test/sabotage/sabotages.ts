import type { Commit, Store } from '@holdfast/core'

/** The epoch of the newest claim of each session, by any node. */
const newestEpochs = new Map<string, number>()

/** Ways in which a store can be wrong, each of which the suite has to find. */
export const sabotages = {
  'takes an old epoch for the newest': (store) => ({
    commit: ({ fence, ...commit }: Commit) => {
      const epoch = newestEpochs.get(commit.sessionId) ?? fence?.epoch ?? 0
      return store.commit({ ...commit, ...(fence === undefined ? {} : { fence: { epoch } }) })
    },
    async claimSession(sessionId) {
      const claim = await store.claimSession(sessionId)
      newestEpochs.set(sessionId, claim.epoch)
      return claim
    },
  }),
  'says done before it is': (store) => ({
    commit: async (commit: Commit) => {
      void store.commit(commit).catch(() => undefined)
      return { results: commit.writes.map(() => ({ kind: 'done' as const })) }
    },
  }),
  'drops the last write of a commit': (store) => ({
    commit: (commit: Commit) =>
      store.commit(
        commit.writes.length > 1 ? { ...commit, writes: commit.writes.slice(0, -1) } : commit,
      ),
  }),
  'ignores guards': (store) => ({
    commit: (commit: Commit) =>
      store.commit({
        ...commit,
        writes: commit.writes.map((write) => {
          if (write.kind !== 'log-append') return write
          const { guard: ignored, ...unguarded } = write
          void ignored
          return unguarded
        }),
      }),
  }),
  'ignores that a log has grown': (store) => ({
    commit: (commit: Commit) =>
      store.commit({
        ...commit,
        writes: commit.writes.filter(({ kind }) => kind !== 'log-unchanged'),
      }),
  }),
  'watches nothing': () => ({ watch: () => (async function* () {})() }),
  'finds no work': () => ({ findWork: () => Promise.resolve([]) }),
  'lets anybody claim': (store) => ({
    claimSession: async (sessionId) => {
      try {
        return await store.claimSession(sessionId)
      } catch {
        return { sessionId, epoch: 1 }
      }
    },
  }),
} satisfies Readonly<Record<string, (store: Store) => Partial<Store>>>

/** The name of a sabotage. */
export type Sabotage = keyof typeof sabotages

/** The store, wrong in one way. */
export function sabotaged(store: Store, sabotage: Sabotage): Store {
  const changes: Partial<Store> = sabotages[sabotage](store)
  return new Proxy(store, {
    get(target, name) {
      const changed = Reflect.get(changes, name) as unknown
      if (changed !== undefined) return changed
      const value = Reflect.get(target, name, target) as unknown
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
