/** Runs what shares a key one after the other. */
export interface Lanes {
  run<Result>(key: string, task: () => Promise<Result>): Promise<Result>
}

/**
 * Creates lanes: requests of one process about one chat do not get in each other's way. Between processes the commits decide.
 */
export function createLanes(): Lanes {
  const last = new Map<string, Promise<unknown>>()
  return {
    async run(key, task) {
      const before = last.get(key) ?? Promise.resolve()
      const running = before.then(task, task)
      // A failure is its own caller's; the lane goes on.
      const settled = running.catch(() => undefined)
      last.set(key, settled)
      try {
        return await running
      } finally {
        if (last.get(key) === settled) last.delete(key)
      }
    },
  }
}
