// A system under a test's control.
//
// Owns:  the clock, the timers, the seed.
// Asks:  the real system for macrotasks, unless they are manual too.
// Never: lets time pass by itself.
//
// M1. Time moves only by `advance` and `advanceTo`; the clock shows a timer's own time while it runs.
// M2. Timers fire in the order of their times, those of one time in the order they were set.
// M3. The same seed gives the same ids and numbers, in the same order of asking.
import type { Random, System } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { createSeededRandom } from './seeded-random.ts'

/** How a manual system begins. */
export interface ManualSystemOptions {
  /** What `now` says first. Milliseconds. Default 1,700,000,000,000. */
  readonly now?: number
  /** For ids and numbers. Default 1. */
  readonly seed?: number
  /** `real`: macrotasks run by themselves; `manual`: by {@link ManualSystem.runMacrotask}. Default `real`. */
  readonly macrotasks?: 'real' | 'manual'
}

/** A system whose time stands still until a test moves it. */
export interface ManualSystem extends System {
  /** Lets so many milliseconds pass: fires what is due, in order, and settles what that leads to. */
  advance(ms: number): Promise<void>
  /** Goes on to the earliest timer and fires it. False if there is none. */
  advanceToNextTimer(): Promise<boolean>
  /** Sets the clock without firing anything, also backwards, as a host's clock may be. */
  setNow(now: number): void
  /** How many timers wait. */
  readonly timerCount: number
  /** Milliseconds since the epoch of the earliest timer. */
  readonly nextTimerAt: number | undefined
  /** Runs the oldest manual macrotask. False if none waits. */
  runMacrotask(): boolean
  /** How many manual macrotasks wait. */
  readonly macrotaskCount: number
  /** Lets pending work settle, as far as it needs no time: some turns of macrotasks. */
  settle(turns?: number): Promise<void>
}

interface Timer {
  readonly at: number
  readonly order: number
  readonly run: () => void
}

/** Makes a manual system. */
export function createManualSystem(options: ManualSystemOptions = {}): ManualSystem {
  const random = createSeededRandom(options.seed ?? 1)
  const manual = options.macrotasks === 'manual'
  const macrotasks: (() => void)[] = []
  const timers = new Set<Timer>()
  let now = options.now ?? 1_700_000_000_000
  let order = 0
  let lastRunTime = 0
  let runCounter = 0

  const earliest = (): Timer | undefined => {
    let first: Timer | undefined
    for (const timer of timers) {
      if (first === undefined || timer.at < first.at) first = timer
      else if (timer.at === first.at && timer.order < first.order) first = timer
    }
    return first
  }

  const settle = async (turns = 8): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) {
      await new Promise<void>((resolve) => realSystem.macrotask(resolve))
    }
  }

  const fire = (timer: Timer): void => {
    timers.delete(timer)
    now = Math.max(now, timer.at)
    timer.run()
  }

  return {
    now: () => now,
    after(delayMs, run) {
      order += 1
      const timer = { at: now + Math.max(0, delayMs), order, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    macrotask(run) {
      if (manual) macrotasks.push(run)
      else realSystem.macrotask(run)
    },
    next: () => random.next(),
    runId() {
      // Ascending, as the real one's are: by time, then by a counter within it.
      if (now > lastRunTime) {
        lastRunTime = now
        runCounter = 0
      }
      runCounter += 1
      if (runCounter > 0xfff) {
        lastRunTime += 1
        runCounter = 1
      }
      const time = lastRunTime.toString(16).padStart(12, '0')
      const count = runCounter.toString(16).padStart(3, '0')
      return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-8${hex(random, 3)}-${hex(random, 12)}`
    },
    uuid() {
      return `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-8${hex(random, 3)}-${hex(random, 12)}`
    },
    shortId: () => `id${hex(random, 19)}`,
    async advance(ms) {
      const end = now + ms
      await settle()
      for (let timer = earliest(); timer !== undefined && timer.at <= end; timer = earliest()) {
        fire(timer)
        await settle()
      }
      now = Math.max(now, end)
    },
    async advanceToNextTimer() {
      await settle()
      const timer = earliest()
      if (timer === undefined) return false
      fire(timer)
      await settle()
      return true
    },
    setNow(time) {
      now = time
    },
    get timerCount() {
      return timers.size
    },
    get nextTimerAt() {
      return earliest()?.at
    },
    runMacrotask() {
      const run = macrotasks.shift()
      run?.()
      return run !== undefined
    },
    get macrotaskCount() {
      return macrotasks.length
    },
    settle,
  }
}

function hex(random: Random, digits: number): string {
  let text = ''
  while (text.length < digits) text += Math.floor(random.next() * 16).toString(16)
  return text
}
