// Tells of what other processes put in a run's inbox, as soon as the store's watch does.
import { inboxOf } from '@holdfast/core'
import type { Services } from './options.ts'
import { keepWatching, pause } from './watching.ts'

const newRunMs = 500

/**
 * Calls back whenever something may have reached a run, until the signal fires.
 *
 * A watch tells of the state it finds at once. For a run that was just made that is worth no read:
 * nobody else knows of it yet. It is read once all the same, soon, for what came before the watch.
 */
export function watchInbox(
  services: Services,
  run: { readonly sessionId: string; readonly runId: string; readonly isNew: boolean },
  signal: AbortSignal,
  changed: () => void,
): void {
  const { sessionId, runId } = run
  const topic = { kind: 'log', sessionId, log: inboxOf(runId) } as const
  let isFirst = run.isNew
  void keepWatching(services, topic, signal, () => {
    if (signal.aborted) return
    if (!isFirst) {
      changed()
      return
    }
    isFirst = false
    void pause(services, newRunMs, signal).then(() => {
      if (!signal.aborted) changed()
    })
  })
}
