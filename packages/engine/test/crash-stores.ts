// The stores on which real processes are killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core'
import { openSqliteStore } from '@holdfast/store-sqlite'

/** A database that outlives the processes that open it. */
export interface CrashDatabase {
  /** What a process is told, so that it finds the database. */
  readonly location: string
  destroy(): Promise<void>
}

/** A kind of store that survives a process. */
export interface CrashStore {
  create(): Promise<CrashDatabase>
  /** Opens it as a node that owns sessions. */
  open(location: string): Promise<Store>
}

const sqlite: CrashStore = {
  async create() {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
    return {
      location: join(directory, 'runs.db'),
      async destroy() {
        rmSync(directory, { recursive: true, force: true })
      },
    }
  },
  open: (path) => openSqliteStore({ path }),
}

/** By name. The matrix runs on each. */
export const crashStores = { sqlite } as const satisfies Readonly<Record<string, CrashStore>>

export type CrashStoreName = keyof typeof crashStores
