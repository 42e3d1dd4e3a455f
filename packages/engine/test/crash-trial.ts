// One run of the crash matrix.
import { expect } from 'vitest'
import type { Store } from '@holdfast/core'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { createManualSystem, createRecordingLog, faultyStore } from '@holdfast/testing'
import type { FaultKind, FaultyStore } from '@holdfast/testing'
import { driveOnce, everything, expectIntact } from './everything.ts'
import type { Effects, Progress } from './everything.ts'
import { startNode } from './harness.ts'

/** How a trial goes wrong at one commit. */
export type Mishap =
  | { readonly kind: 'none' }
  /** The commit fails so; the same process goes on. */
  | { readonly kind: 'fault'; readonly fault: FaultKind; readonly commit: number }
  /** The process dies before or after the commit was written; another goes on. */
  | { readonly kind: 'death'; readonly when: 'before' | 'after'; readonly commit: number }

/** What a trial tells. */
export interface Told {
  /** How many commits the first process made. */
  readonly commits: number
}

const rounds = 1_500

/** Drives the definition that uses everything to its end, with a mishap on the way, and checks that all is intact. */
export async function tryWith(mishap: Mishap): Promise<Told> {
  const system = createManualSystem()
  const database = createMemoryDatabase({ system })
  const log = createRecordingLog()
  const effects: Effects = new Map()
  const program = everything(effects)
  const progress: Progress = { started: false, answered: false, sent: false }
  let commits = 0
  let driving: Promise<void> | undefined
  let hasEnded = false
  let die: (() => void) | undefined
  let faulty: FaultyStore | undefined
  const open = (opened?: { readonly node?: string }): Store => {
    const store = database.open(opened)
    const wrapped: Store = {
      ...store,
      async commit(commit) {
        commits += 1
        const isDue = mishap.kind === 'death' && die !== undefined && commits === mishap.commit
        if (isDue && mishap.when === 'before') die?.()
        const receipt = await store.commit(commit)
        if (isDue && mishap.when === 'after') die?.()
        return receipt
      },
    }
    if (mishap.kind !== 'fault') return wrapped
    faulty = faultyStore(wrapped, {
      faults: [{ commit: mishap.commit, kind: mishap.fault }],
      system,
    })
    return faulty
  }
  const world = { database: { ...parts(database), open }, system, log }
  let node = startNode(world, program.definitions, { node: 'first' })
  let isDead = false
  die = () => {
    if (isDead) return
    isDead = true
    node.kill()
  }
  for (let round = 0; round < rounds; round += 1) {
    if (isDead && die !== undefined) {
      die = undefined
      node = startNode(world, program.definitions, { node: 'second' })
    }
    await system.settle(2)
    // The clock moves on while a client waits: its commit may be held up by it.
    driving ??= driveOnce(node.engine, program, progress).then((done) => {
      hasEnded = done
      driving = undefined
    })
    await Promise.race([driving, system.settle(6)])
    if (hasEnded) break
    if (round % 3 === 2) await system.advance(60)
  }
  const reader = database.open({ mode: 'client' })
  try {
    await expectIntact(reader, effects)
  } catch (error) {
    const told = log.records.map(
      ({ event, fields, cause }) => `${event} ${JSON.stringify(fields)} ${String(cause)}`,
    )
    throw new Error(`${JSON.stringify(mishap)}\n${told.slice(-8).join('\n')}`, { cause: error })
  } finally {
    node.kill()
  }
  expect(mishap.kind === 'fault' ? faulty?.injected.length : 1).toBe(1)
  expect(isDead).toBe(mishap.kind === 'death')
  return { commits }
}

function parts(database: ReturnType<typeof createMemoryDatabase>) {
  return {
    kill: (node: string) => database.kill(node),
    expireLease: (node: string) => database.expireLease(node),
  }
}
