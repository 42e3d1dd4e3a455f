// A supervisor written by hand over a store: it records and answers, and executes nothing.
// Tests move runs themselves, as the session's owner.
import {
  answerKey,
  cancelKey,
  encodeRunRecord,
  HoldfastError,
  inboxOf,
  isStoreConflict,
  isTerminal,
  runNotFound,
  runRecordVersion,
  streamIdOf,
  unansweredInterrupts,
} from '@holdfast/core'
import type {
  Activity,
  Catalog,
  OpenInterrupt,
  RunRecord,
  SessionId,
  Store,
  StoredRun,
  Supervisor,
} from '@holdfast/core'
import { sha256Hex } from '@holdfast/json'
import {
  decodeEntries,
  decodeInboxEntry,
  encodeEntries,
  encodeInboxEntry,
  projectActivities,
} from '@holdfast/workflow'
import type { JournalEntry } from '@holdfast/workflow'

const at = 1_700_000_000_000

export function createSessionSupervisor(
  store: Store,
  catalog: Catalog,
  sessionId: SessionId,
): Supervisor {
  const get = async (runId: string): Promise<StoredRun> => {
    const run = await store.run(sessionId, runId)
    if (run === undefined) throw runNotFound(runId)
    return run
  }
  return {
    sessionId,
    async start(draft, input, options = {}) {
      const definition = catalog.resolve(draft.definition.name, draft.definition.version)
      const digest = sha256Hex(input)
      const record: RunRecord = {
        version: runRecordVersion,
        id: draft.id,
        sessionId,
        definition: { ...draft.definition, digest: definition.digest },
        ...(draft.parentRunId === undefined ? {} : { parentRunId: draft.parentRunId }),
        ...(draft.executionId === undefined ? {} : { executionId: draft.executionId }),
        input: { digest, size: input.byteLength },
        artifactNamespace: draft.artifactNamespace ?? { sessionId, runId: draft.id },
        status: 'pending',
        parked: false,
        interrupts: [],
        artifacts: [],
        stream: 0,
        inboxReadThrough: 0,
        recoveries: 0,
        createdAt: at,
        updatedAt: at,
      }
      const seed = encodeEntries(
        [{ kind: 'run-seeded', at, definition: record.definition, input: record.input }],
        0,
      )
      const { idempotencyKey } = options
      try {
        await store.commit({
          sessionId,
          writes: [
            { kind: 'input-put', digest, bytes: input },
            {
              kind: 'run-create',
              record,
              ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
            },
            { kind: 'journal-append', runId: draft.id, revision: 0, data: seed },
            ...(options.with ?? []),
          ],
        })
      } catch (error) {
        if (!isStoreConflict(error, 'idempotency-key') || error.facts.runId === undefined)
          throw error
        if (error.facts.inputDigest !== digest) {
          throw new HoldfastError('idempotency_key_reused', { message: 'The key is taken.' })
        }
        return { run: await get(error.facts.runId), created: false }
      }
      return { run: await get(draft.id), created: true }
    },
    async resume(request) {
      const run = await get(request.runId)
      const { idempotencyKey, payload } = request
      const inbox = await store.logPage(sessionId, inboxOf(request.runId), {
        from: 0,
        limit: 1_000,
      })
      const earlier = inbox.entries
        .map(decodeInboxEntry)
        .some((entry) => entry.kind === 'answer' && entry.idempotencyKey === idempotencyKey)
      const streamId = streamIdOf(request.runId, run.record.stream + 1)
      if (idempotencyKey !== undefined && earlier) return { run, streamId }
      if (isTerminal(run.record.status)) throw refused('run_ended')
      const open = unansweredInterrupts(run).filter(
        ({ id }) => request.interruptId === undefined || id === request.interruptId,
      )
      const [interrupt, second] = open
      if (interrupt === undefined) throw refused('run_not_interrupted')
      if (second !== undefined) throw refused('ambiguous_interrupt')
      if (request.by.kind === 'model' && interrupt.answer === 'person') {
        throw refused('interrupt_needs_person')
      }
      const value = encodeInboxEntry({
        kind: 'answer',
        at,
        interruptId: interrupt.id,
        payload,
        by: request.by.kind,
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      })
      try {
        await store.commit({
          sessionId,
          writes: [
            {
              kind: 'log-append',
              log: inboxOf(request.runId),
              key: answerKey(interrupt.id),
              value,
              guard: { runId: request.runId, notEnded: true, interruptOpen: interrupt.id },
              onFailure: 'fail',
            },
          ],
        })
      } catch (error) {
        if (isStoreConflict(error, 'log-key-exists')) throw refused('interrupt_answered')
        throw error
      }
      return { run: await get(request.runId), streamId }
    },
    resumeMany: () => Promise.reject(refused('not_permitted')),
    send: () => Promise.reject(refused('not_permitted')),
    async cancel({ runId, reason = 'cancel requested', by }) {
      const run = await get(runId)
      if (run.record.status === 'cancelled') return { run, alreadyCancelled: true }
      if (isTerminal(run.record.status)) throw refused('run_ended')
      await store.commit({
        sessionId,
        writes: [
          {
            kind: 'log-append',
            log: inboxOf(runId),
            key: cancelKey,
            value: encodeInboxEntry({ kind: 'cancel', at, reason, by: by.kind }),
            onFailure: 'skip',
          },
        ],
      })
      return { run: await get(runId), alreadyCancelled: false }
    },
    async history(runId, request = {}) {
      const run = await get(runId)
      const { afterRevision = 0, afterEventId, limit = 50 } = request
      const rows = await store.journal(sessionId, runId, { from: afterRevision, limit: 1_000 })
      const { definition } = run.record
      const all = rows.flatMap((row) =>
        projectActivities({ sessionId, runId, definition }, decodeEntries(row)),
      )
      const skipped = all.findIndex(({ eventId }) => eventId === afterEventId)
      return pageOf(all.slice(skipped + 1), limit, run.journalNext)
    },
    async output(runId) {
      await get(runId)
      const rows = await store.journal(sessionId, runId, { from: 0, limit: 1_000 })
      const end = rows.flatMap((row) => decodeEntries(row).entries).at(-1)
      if (end?.kind !== 'run-ended' || end.output === undefined) return undefined
      return 'json' in end.output ? end.output.json : undefined
    },
  }
}

function pageOf(all: readonly Activity[], limit: number, tailRevision: number) {
  const activities = all.slice(0, limit)
  const following = all[limit]
  const last = activities.at(-1)
  if (following === undefined || last === undefined) return { activities, tailRevision }
  return following.revision === last.revision
    ? { activities, tailRevision, nextRevision: last.revision, nextEventId: last.eventId }
    : { activities, tailRevision, nextRevision: following.revision }
}

function refused(code: HoldfastError['code']): HoldfastError {
  return new HoldfastError(code, { message: `refused: ${code}` })
}

/** What a test changes of a run, and what it adds to its journal. */
export interface RunMove {
  readonly status?: RunRecord['status']
  readonly interrupts?: readonly OpenInterrupt[]
  readonly record?: Partial<RunRecord>
  readonly entries?: readonly JournalEntry[]
  readonly completedSteps?: number
  readonly head?: StoredRun['head']
}

/** Moves a run, as the owner of its session. */
export async function moveRun(
  store: Store,
  sessionId: SessionId,
  runId: string,
  move: RunMove,
): Promise<StoredRun> {
  const { epoch } = await store.claimSession(sessionId)
  const run = await store.run(sessionId, runId)
  if (run === undefined) throw runNotFound(runId)
  const inbox = await store.logPage(sessionId, inboxOf(runId), { from: 0, limit: 1 })
  const record: RunRecord = {
    ...run.record,
    ...(move.status === undefined ? {} : { status: move.status }),
    interrupts: [...(move.interrupts ?? run.record.interrupts)],
    inboxReadThrough: inbox.next,
    ...move.record,
  }
  encodeRunRecord(record)
  await store.commit({
    sessionId,
    fence: { epoch },
    writes: [
      { kind: 'run-swap', record, expectedRevision: run.revision },
      {
        kind: 'journal-append',
        runId,
        revision: run.journalNext,
        data: encodeEntries(move.entries ?? [], move.completedSteps ?? 0),
        ...(move.head === undefined ? {} : { head: move.head }),
      },
    ],
  })
  const moved = await store.run(sessionId, runId)
  if (moved === undefined) throw runNotFound(runId)
  return moved
}
