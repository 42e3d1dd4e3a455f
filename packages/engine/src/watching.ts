import { ErrorCode, hasErrorCode } from '@holdfast/core'
import type { WatchTopic } from '@holdfast/core'
import type { Services } from './options.ts'

const backoffMs = 100
const backoffMaxMs = 5_000

/**
 * Calls back at once and each time a topic has changed, one call at a time, until the signal fires or
 * the store is closed. A watch that breaks is begun anew, with back-off.
 */
export async function keepWatching(
  services: Services,
  topic: WatchTopic,
  signal: AbortSignal,
  changed: () => void | Promise<void>,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    try {
      for await (const _ of services.store.watch(topic, signal)) {
        await changed()
        failures = 0
      }
      return
    } catch (cause) {
      if (signal.aborted || hasErrorCode(cause, ErrorCode.storeClosed)) return
      services.log.write({
        level: 'warn',
        event: 'engine.watch.broken',
        message: 'A watch broke and is begun anew.',
        fields: { topic: topic.kind },
        cause,
      })
      await pause(services, Math.min(backoffMs * 2 ** failures, backoffMaxMs), signal)
      failures += 1
    }
  }
}

/** Waits, unless the signal fires before. */
export function pause(services: Services, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const stop = (): void => {
      cancel()
      signal.removeEventListener('abort', stop)
      resolve()
    }
    const cancel = services.system.after(delayMs, stop)
    signal.addEventListener('abort', stop, { once: true })
  })
}
