// Runs a random program to its end, with everything that reaches it in a random order, from its
// beginning or from any commit of an earlier trial.
import type { Commit, JsonValue, Store, StoredRun, System } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { createMemoryDatabase } from '@holdfast/store-memory'
import { createManualSystem, createRecordingLog, createSeededRandom } from '@holdfast/testing'
import { decodeEntries, stepIdOf } from '@holdfast/workflow'
import type { JournalEntry } from '@holdfast/workflow'
import { sessionId, startNode } from './harness.ts'
import { childDefinition, definitionOf } from './random-program.ts'
import type { NewerCode, Outside, Piece, Seen } from './random-program.ts'

export const runId = '01900000-0000-7000-8000-000000000001'

/** What came of a trial. */
export interface Trial {
  /** All commits of all, in the order in which the store took them. */
  readonly commits: readonly Commit[]
  readonly run: StoredRun
  readonly entries: readonly JournalEntry[]
  readonly seen: readonly Seen[]
  readonly ended: string | undefined
  /** How often the body of each step began. */
  readonly began: ReadonlyMap<string, number>
  readonly blocked: readonly unknown[]
  readonly streams: readonly JsonValue[]
}

export interface TrialOptions {
  readonly seed: number
  /** Goes on from these commits instead of from a start. */
  readonly from?: readonly Commit[]
  /** Stops when the run is blocked, too. */
  readonly stopsBlocked?: boolean
  readonly cancels?: boolean
  /** Goes on with other code. */
  readonly newer?: NewerCode
}

const rounds = 3_000

export async function tryProgram(program: Piece, options: TrialOptions): Promise<Trial> {
  const { seed, from } = options
  const random = createSeededRandom(seed)
  const manual = createManualSystem({ seed })
  let ticks = 0
  // Each look at the clock sees another time, so that entries can be told apart by theirs.
  const system: System = { ...manual, now: () => manual.now() + ++ticks / 1_000 }
  const database = createMemoryDatabase({ system })
  const log = createRecordingLog()
  const began = new Map<string, number>()
  const outside: Outside = {
    began(stepId) {
      const times = (began.get(stepId) ?? 0) + 1
      began.set(stepId, times)
      return times
    },
    ended: () => undefined,
    async pause(turns) {
      for (let turn = turns * 3 + random.below(8); turn > 0; turn -= 1) {
        await new Promise<void>((resolve) => realSystem.macrotask(resolve))
      }
    },
  }
  const commits: { readonly commit: Commit; accepted: boolean }[] = []
  if (from !== undefined) {
    const builder = database.open({ node: 'builder' })
    const { epoch } = await builder.claimSession(sessionId)
    for (const { fence, ...commit } of from) {
      await builder.commit(fence === undefined ? commit : { ...commit, fence: { epoch } })
    }
    // What was taken up in good time cannot be earlier than what was written before.
    const last = lastTime(from)
    if (last > system.now()) manual.setNow(Math.ceil(last))
    database.kill('builder')
    commits.push(...from.map((commit) => ({ commit, accepted: true })))
  }
  const definition = definitionOf(program, () => outside, options.newer)
  const recording = {
    ...database,
    kill: (node: string) => database.kill(node),
    expireLease: (node: string) => database.expireLease(node),
    open: (opened?: { readonly node?: string }): Store => {
      const store = database.open(opened)
      return {
        ...store,
        async commit(commit) {
          if (commit.sessionId !== sessionId) return store.commit(commit)
          const record = { commit, accepted: false }
          commits.push(record)
          const receipt = await store.commit(commit)
          record.accepted = true
          return receipt
        },
      }
    },
  }
  const node = startNode({ database: recording, system, log }, [definition, childDefinition], {
    node: 'live',
    // Time is moved to whatever timer is next: cleanups are not to be cut off by that.
    limits: { maxWorkers: 64, cleanupMs: 24 * 60 * 60 * 1_000 },
  })
  const { session, store } = node
  if (from === undefined) await session.start(definition, {}, { runId })
  const run = session.run(runId)
  let messages = 0
  let done = false
  for (let round = 0; round < rounds && !done; round += 1) {
    await manual.settle(1 + random.below(4))
    const stored = await run.status()
    const { record } = stored
    if (record.endedAt !== undefined) {
      done = true
      break
    }
    if (options.stopsBlocked === true && record.waitingFor === 'code' && record.parked) break
    const open = record.interrupts.filter(({ id }) => !stored.unread.includes(`answer/${id}`))
    const choice = random.below(100)
    if (options.cancels === true && choice < 1) await run.cancel('enough').catch(() => undefined)
    else if (choice < 8 && messages < 6) {
      messages += 1
      await run.send({ id: `m${messages}-${seed}`, body: { messages } }).catch(() => undefined)
    } else if (choice < 20 && open.length > 0) {
      const question = open[random.below(open.length)]
      if (question !== undefined) {
        const isOutcome = JSON.stringify(question.payload ?? null).includes('step-outcome')
        const answer = isOutcome ? { outcome: 'done', value: 'once' } : { value: choice }
        await run.resume(answer, { interruptId: question.id }).catch(() => undefined)
      }
    } else if (choice < 40 || (record.parked && open.length === 0)) {
      if (!(await manual.advanceToNextTimer()) || record.waitingFor === 'message') {
        if (record.waitingFor === 'message' && choice < 70) {
          messages += 1
          await run.send({ id: `m${messages}-${seed}`, body: { messages } }).catch(() => undefined)
        }
      }
    }
  }
  const stored = await run.status()
  const rows = await store.journal(sessionId, runId, { from: 0, limit: 1_000 })
  const output = await session.supervisor.output(runId)
  const told = output as { readonly seen?: readonly Seen[]; readonly ended?: string } | undefined
  const streams: JsonValue[] = []
  for (let number = 1; number <= stored.record.stream; number += 1) {
    const id = number === 1 ? runId : `${runId}.${number}`
    const page = await store.streamPage(sessionId, id, { from: 0, limit: 1_000 })
    streams.push((page?.chunks ?? []).map(({ data }) => JSON.parse(data) as JsonValue))
  }
  node.kill()
  if (!done && options.stopsBlocked !== true) {
    throw new Error(
      `the run did not end: ${JSON.stringify(stored.record)} ${JSON.stringify(log.records.slice(-4).map((r) => [r.event, r.fields, String(r.cause)]))}`,
    )
  }
  return {
    commits: commits.filter(({ accepted }) => accepted).map(({ commit }) => commit),
    run: stored,
    entries: rows.flatMap((row) => decodeEntries(row).entries),
    seen: told?.seen ?? [],
    ended: told?.ended,
    began,
    blocked: log.of('engine.run.blocked').map(({ fields }) => fields),
    streams,
  }
}

/** The entries of the run that a list of commits has written. */
export function entriesOf(commits: readonly Commit[]): readonly JournalEntry[] {
  return commits.flatMap(({ writes }) =>
    writes.flatMap((write) =>
      write.kind === 'journal-append' && write.runId === runId
        ? decodeEntries({ revision: write.revision, data: write.data }).entries
        : [],
    ),
  )
}

/** Ids of the steps that entries settle, under the names that bodies begin under. */
export function settledSteps(entries: readonly JournalEntry[]): ReadonlySet<string> {
  const settled = new Set<string>()
  for (const entry of entries) {
    if (entry.kind === 'step-completed' || entry.kind === 'step-failed') {
      settled.add(stepIdOf(runId, entry.path))
      settled.add(`once ${stepIdOf(runId, entry.path)}`)
    }
    if (entry.kind === 'step-begun') settled.add(`once ${stepIdOf(runId, entry.path)}`)
  }
  return settled
}

function lastTime(commits: readonly Commit[]): number {
  return Math.max(0, ...entriesOf(commits).map(({ at }) => at))
}
