// The only code of Holdfast that touches the real clock, timers, randomness and ids.
import { nanoid } from 'nanoid'
import { v4 as uuidV4, v7 as uuidV7 } from 'uuid'
import type { System } from '../clock.ts'

/** Node's own macrotask, which browsers lack. */
const nodeImmediate = (globalThis as { readonly setImmediate?: (run: () => void) => unknown })
  .setImmediate

/** `setImmediate` where there is one, else a message channel: both run after all microtasks. */
const macrotask: (run: () => void) => void =
  nodeImmediate === undefined ? byMessageChannel : (run) => void nodeImmediate(run)

function byMessageChannel(run: () => void): void {
  const channel = new MessageChannel()
  const receive = (): void => {
    channel.port1.close()
    run()
  }
  channel.port1.addEventListener('message', receive, { once: true })
  channel.port1.start()
  channel.port2.postMessage(undefined)
}

/** The longest delay that `setTimeout` keeps exactly. Longer ones are waited for in pieces. */
const longestTimer = 2_147_483_647

function after(delayMs: number, run: () => void): () => void {
  const due = Date.now() + delayMs
  let handle: ReturnType<typeof setTimeout>
  const wait = (left: number): void => {
    handle = setTimeout(
      () => {
        const remaining = due - Date.now()
        if (left > longestTimer && remaining > 0) wait(remaining)
        else run()
      },
      Math.min(Math.max(left, 0), longestTimer),
    )
  }
  wait(delayMs)
  return () => clearTimeout(handle)
}

/** The real clock, timers, randomness and ids of this process. */
export const system: System = {
  now: () => Date.now(),
  after,
  macrotask,
  next: () => Math.random(),
  runId: () => uuidV7(),
  uuid: () => uuidV4(),
  shortId: () => nanoid(),
}
