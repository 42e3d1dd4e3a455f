// The stores on which real processes are killed.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { openPostgresStore } from '@holdfast/store-postgres'
import { openSqliteStore } from '@holdfast/store-sqlite'

/** A database that outlives the processes that open it. */
export interface CrashDatabase {
  /** What a process is told, so that it finds the database. */
  readonly location: string
  destroy(): Promise<void>
}

/** A kind of store that survives a process. */
export interface CrashStore {
  /** Makes a database. `server`: where PostgreSQL listens, for the stores that need one. */
  create(server: string | undefined): Promise<CrashDatabase>
  /** Opens it, as a node that owns sessions unless another mode is asked for. */
  open(location: string, mode?: 'owner' | 'client'): Promise<Store>
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
  open: (path, mode = 'owner') => openSqliteStore({ path, mode }),
}

/** A schema of its own on a server that the suite has started. A location is `url schema`. */
const postgres: CrashStore = {
  async create(server) {
    if (server === undefined) throw new Error('There is no PostgreSQL server.')
    const schema = `crash_${system.uuid().replaceAll('-', '')}`
    return { location: `${server} ${schema}`, destroy: () => Promise.resolve() }
  },
  open(location, mode = 'owner') {
    const [connectionString = '', schema = ''] = location.split(' ')
    return openPostgresStore({ connectionString, schema, mode, leaseMs: 1_000, renewMs: 300 })
  },
}

/** By name. The matrix runs on each. */
export const crashStores = { sqlite, postgres } as const satisfies Readonly<
  Record<string, CrashStore>
>

export type CrashStoreName = keyof typeof crashStores
