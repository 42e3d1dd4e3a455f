import { hasErrorCode } from '@holdfast/core'
import type { Store } from '@holdfast/core'

/** What a writer was told of its keys. */
export interface Written {
  readonly acknowledged: readonly string[]
  /** Nobody could say whether they were written. */
  readonly unknown: readonly string[]
}

/**
 * Appends numbered keys to a session's log, one after the other, and goes on after each failure that
 * may pass. With ids a commit is repeated until it is answered.
 */
export async function appendKeys(
  store: Store,
  sessionId: string,
  until: (count: number) => boolean,
  withIds: boolean,
): Promise<Written> {
  const acknowledged: string[] = []
  const unknown: string[] = []
  for (let count = 0; until(count); count += 1) {
    const key = String(count)
    for (;;) {
      try {
        await store.commit({
          sessionId,
          writes: [{ kind: 'log-append', log: 'l', key, value: '1', onFailure: 'fail' }],
          ...(withIds ? { commitId: `commit ${key}` } : {}),
        })
        acknowledged.push(key)
        break
      } catch (error) {
        if (!withIds && hasErrorCode(error, 'store_outcome_unknown')) {
          unknown.push(key)
          break
        }
        const passes =
          hasErrorCode(error, 'store_unavailable') || hasErrorCode(error, 'store_outcome_unknown')
        if (!passes) throw error
      }
    }
  }
  return { acknowledged, unknown }
}

/** The keys of a session's log. */
export async function keysOf(store: Store, sessionId: string): Promise<readonly string[]> {
  const keys: string[] = []
  for (;;) {
    const page = await store.logPage(sessionId, 'l', { from: keys.length, limit: 1_000 })
    keys.push(...page.entries.map(({ key }) => key))
    if (keys.length === page.next) return keys
  }
}
