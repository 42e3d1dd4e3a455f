import type { Store, System } from '@holdfast/core'
import { MemoryBackend } from './memory-backend.ts'
import type { MemoryBackendOptions } from './memory-backend.ts'
import { openMemoryStore } from './memory-store.ts'

/** How a memory database behaves. */
export type MemoryDatabaseOptions = MemoryBackendOptions

/** How a store opens a memory database. */
export interface MemoryOpenOptions {
  /** `owner` (default): a node of its own. `client`: reads, starts, appends, and owns nothing. */
  readonly mode?: 'owner' | 'client'
  /** The node's id. Default: a fresh one. */
  readonly node?: string
}

/** A database in memory, to be opened by several stores at once. */
export interface MemoryDatabase {
  /** Opens it as a node of its own. @throws `configuration_invalid` while another store is that node */
  open(options?: MemoryOpenOptions): Store
  /** A node's process dies: what it has not had acknowledged is lost, its store is closed, its sessions have no owner. */
  kill(node: string): void
  /** A node is cut off or paused: its `lost` fires, its sessions have no live owner; its fences hold until a takeover. */
  expireLease(node: string): void
}

/** Makes an empty database. */
export function createMemoryDatabase(options: MemoryDatabaseOptions = {}): MemoryDatabase {
  const backend = new MemoryBackend(options)
  return {
    open({ mode = 'owner', node = backend.system.uuid() } = {}) {
      return openMemoryStore(backend, mode === 'client' ? undefined : backend.addNode(node))
    },
    kill: (node) => backend.kill(node),
    expireLease: (node) => backend.expireLease(node),
  }
}

/** How a store in memory behaves. */
export interface MemoryStoreOptions {
  /** Default: the real one. */
  readonly system?: System
  /** The node's id. Default: a fresh one. */
  readonly nodeId?: string
}

/**
 * A store in memory: every rule of the port, and nothing of it outlives the process.
 *
 * For several stores over one database, see {@link createMemoryDatabase}.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const { system, nodeId } = options
  const database = createMemoryDatabase(system === undefined ? {} : { system })
  return database.open(nodeId === undefined ? {} : { node: nodeId })
}
