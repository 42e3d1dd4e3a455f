// A supervisor whose runs do exactly what a test says, over a real store.
import {
  answerKey,
  cancelKey,
  ErrorCode,
  HoldfastError,
  inboxOf,
  isCancelRequested,
  isStoreConflict,
  isTerminal,
  type JsonValue,
  messageKey,
  type OpenInterrupt,
  type ResumeManyRequest,
  type RunDraft,
  type RunRecord,
  runNotFound,
  type SendRequest,
  type StartOptions,
  type Store,
  type StoredRun,
  type StoreWrite,
  type StreamEnd,
  streamIdOf,
  type Supervisor,
  type SupervisorCallOptions,
  type Supervisors,
  type System,
  unansweredInterrupts,
} from '@holdfast/core'
import { sha256Hex } from '@holdfast/json'
import { encodeEntries, encodeInboxEntry, type JournalEntry } from '@holdfast/workflow'

/** An interrupt that a test opens. */
export interface ScriptedInterrupt {
  readonly id: string
  readonly payload: JsonValue
}

/** The runs of all sessions of one store. */
export interface ScriptedRuns extends Supervisors {
  /** Stores chunks in the run's open stream. */
  write(sessionId: string, runId: string, ...chunks: readonly JsonValue[]): Promise<void>
  /** Closes the open stream and waits for answers. */
  interrupt(
    sessionId: string,
    runId: string,
    interrupts: readonly ScriptedInterrupt[],
    ...chunks: readonly JsonValue[]
  ): Promise<void>
  /** Takes what the inbox holds: answered interrupts are open no more. Gives the keys that were read. */
  readInbox(sessionId: string, runId: string): Promise<readonly string[]>
  /** Ends the run. What its inbox held unread is undelivered. */
  end(
    sessionId: string,
    runId: string,
    status: 'completed' | 'cancelled' | 'failed',
    options?: { readonly output?: JsonValue; readonly chunks?: readonly JsonValue[] },
  ): Promise<void>
  run(sessionId: string, runId: string): Promise<StoredRun>
  /** How often each call was made. */
  readonly calls: { start: number; resumeMany: number; send: number; cancel: number }
}

export function createScriptedRuns(store: Store, system: System): ScriptedRuns {
  const outputs = new Map<string, JsonValue>()
  const calls = { start: 0, resumeMany: 0, send: 0, cancel: 0 }

  async function owned(sessionId: string, writes: readonly StoreWrite[]): Promise<void> {
    const { epoch } = await store.claimSession(sessionId)
    await store.commit({ sessionId, writes, fence: { epoch } })
  }

  async function read(sessionId: string, runId: string): Promise<StoredRun> {
    const run = await store.run(sessionId, runId)
    if (run === undefined) throw runNotFound(runId)
    return run
  }

  async function nextIndex(sessionId: string, streamId: string): Promise<number> {
    return (await store.streamHead(sessionId, streamId))?.next ?? 0
  }

  function journal(run: StoredRun, entries: readonly JournalEntry[]): StoreWrite {
    return {
      kind: 'journal-append',
      runId: run.record.id,
      revision: run.journalNext,
      data: encodeEntries(entries, 0),
    }
  }

  function swap(run: StoredRun, changes: Partial<RunRecord>): StoreWrite {
    return {
      kind: 'run-swap',
      expectedRevision: run.revision,
      record: { ...run.record, ...changes, updatedAt: system.now() },
    }
  }

  async function append(
    sessionId: string,
    streamId: string,
    chunks: readonly JsonValue[],
  ): Promise<readonly StoreWrite[]> {
    if (chunks.length === 0) return []
    const expectedNext = await nextIndex(sessionId, streamId)
    const stored = chunks.map((chunk) => ({ data: JSON.stringify(chunk) }))
    return [{ kind: 'stream-append', streamId, expectedNext, chunks: stored }]
  }

  function supervisor(sessionId: string): Supervisor {
    return {
      sessionId,
      async start(draft: RunDraft, input: Uint8Array, options: StartOptions = {}) {
        calls.start += 1
        const digest = sha256Hex(input)
        const record: RunRecord = {
          version: 1,
          id: draft.id,
          sessionId,
          definition: { ...draft.definition, digest: 'a'.repeat(64) },
          input: { digest, size: input.byteLength },
          artifactNamespace: { sessionId, runId: draft.id },
          status: 'running',
          parked: false,
          interrupts: [],
          artifacts: [],
          stream: 0,
          inboxReadThrough: 0,
          recoveries: 0,
          createdAt: system.now(),
          updatedAt: system.now(),
        }
        await store.commit({
          sessionId,
          writes: [
            { kind: 'input-put', digest, bytes: input },
            { kind: 'run-create', record },
            {
              kind: 'journal-append',
              runId: draft.id,
              revision: 0,
              data: encodeEntries(
                [
                  {
                    kind: 'run-seeded',
                    at: system.now(),
                    definition: record.definition,
                    input: record.input,
                  },
                ],
                0,
              ),
            },
            ...(options.with ?? []),
          ],
        })
        return { run: await read(sessionId, draft.id), created: true }
      },
      async resume(request, options) {
        const run = await read(sessionId, request.runId)
        const open = unansweredInterrupts(run)
        if (request.interruptId === undefined && open.length > 1) {
          throw new HoldfastError(ErrorCode.ambiguousInterrupt, { message: 'Which one?' })
        }
        const interruptId = request.interruptId ?? open[0]?.id
        if (interruptId === undefined) {
          throw new HoldfastError(ErrorCode.runNotInterrupted, { message: 'It asks nothing.' })
        }
        const { payload, ...rest } = request
        return await this.resumeMany({ ...rest, answers: [{ interruptId, payload }] }, options)
      },
      async resumeMany(request: ResumeManyRequest, options: SupervisorCallOptions = {}) {
        calls.resumeMany += 1
        const { runId, answers, streamIs } = request
        const run = await read(sessionId, runId)
        for (const { interruptId } of answers) {
          if (!run.record.interrupts.some(({ id }) => id === interruptId)) {
            throw new HoldfastError(ErrorCode.interruptNotFound, { message: 'No such interrupt.' })
          }
        }
        try {
          await store.commit({
            sessionId,
            writes: [
              ...answers.map(({ interruptId, payload }) => ({
                kind: 'log-append' as const,
                log: inboxOf(runId),
                key: answerKey(interruptId),
                value: encodeInboxEntry({
                  kind: 'answer',
                  at: system.now(),
                  interruptId,
                  payload,
                  by: 'person',
                }),
                guard: {
                  runId,
                  notEnded: true as const,
                  interruptOpen: interruptId,
                  ...(streamIs === undefined ? {} : { streamIs }),
                },
                onFailure: 'fail' as const,
              })),
              ...(options.with ?? []),
            ],
          })
        } catch (error) {
          if (isStoreConflict(error, 'log-key-exists')) {
            throw new HoldfastError(ErrorCode.interruptAnswered, { message: 'Answered.' })
          }
          if (isStoreConflict(error, 'stream-number')) {
            throw new HoldfastError(ErrorCode.runConflict, { message: 'Another stream.' })
          }
          throw error
        }
        const streamId = streamIdOf(runId, run.record.stream + 1)
        return { run: await read(sessionId, runId), streamId }
      },
      async send({ runId, message }: SendRequest, options: SupervisorCallOptions = {}) {
        calls.send += 1
        await read(sessionId, runId)
        try {
          await store.commit({
            sessionId,
            writes: [
              {
                kind: 'log-append',
                log: inboxOf(runId),
                key: messageKey(message.id),
                value: encodeInboxEntry({
                  kind: 'message',
                  at: system.now(),
                  id: message.id,
                  body: message.body,
                }),
                guard: { runId, notEnded: true },
                onFailure: 'fail',
              },
              ...(options.with ?? []),
            ],
          })
        } catch (error) {
          if (isStoreConflict(error, 'run-ended')) throw ended()
          // As the engine does: a message that the inbox has is a repeat.
          const isRepeat = isStoreConflict(error, 'log-key-exists') && error.facts.write === 0
          if (!isRepeat) throw error
        }
        return await read(sessionId, runId)
      },
      async cancel({ runId, reason }, options = {}) {
        calls.cancel += 1
        const run = await read(sessionId, runId)
        if (run.record.status === 'cancelled') return { run, alreadyCancelled: true }
        if (isTerminal(run.record.status)) throw ended()
        if (isCancelRequested(run)) {
          if (options.with !== undefined && options.with.length > 0) {
            await store.commit({ sessionId, writes: options.with })
          }
          return { run, alreadyCancelled: false }
        }
        await store.commit({
          sessionId,
          writes: [
            {
              kind: 'log-append',
              log: inboxOf(runId),
              key: cancelKey,
              value: encodeInboxEntry({
                kind: 'cancel',
                at: system.now(),
                reason: reason ?? 'cancel requested',
                by: 'person',
              }),
              guard: { runId, notEnded: true },
              onFailure: 'fail',
            },
            ...(options.with ?? []),
          ],
        })
        return { run: await read(sessionId, runId), alreadyCancelled: false }
      },
      async history(runId) {
        const run = await read(sessionId, runId)
        return { activities: [], tailRevision: run.journalNext }
      },
      async output(runId) {
        await read(sessionId, runId)
        return outputs.get(runId)
      },
    }
  }

  return {
    calls,
    session: supervisor,
    run: read,
    async write(sessionId, runId, ...chunks) {
      const run = await read(sessionId, runId)
      const streamId = streamIdOf(runId, run.record.stream + 1)
      await owned(sessionId, await append(sessionId, streamId, chunks))
    },
    async interrupt(sessionId, runId, interrupts, ...chunks) {
      const run = await read(sessionId, runId)
      const streamId = streamIdOf(runId, run.record.stream + 1)
      const open: OpenInterrupt[] = interrupts.map(({ id, payload }) => ({
        id,
        key: id,
        revision: run.journalNext,
        answer: 'person',
        payload,
        openedAt: system.now(),
      }))
      await owned(sessionId, [
        ...(await append(sessionId, streamId, [...chunks, { type: 'finish' }])),
        { kind: 'stream-close', streamId, end: 'interrupted' },
        swap(run, {
          status: 'interrupted',
          parked: true,
          stream: run.record.stream + 1,
          interrupts: [...run.record.interrupts, ...open],
        }),
        journal(run, [
          {
            kind: 'run-interrupted',
            at: system.now(),
            interrupts: interrupts.map(({ id }) => id),
          },
        ]),
      ])
    },
    async readInbox(sessionId, runId) {
      const run = await read(sessionId, runId)
      const answered = new Set(run.unread)
      const interrupts = run.record.interrupts.filter(({ id }) => !answered.has(answerKey(id)))
      const wasAnswered = interrupts.length < run.record.interrupts.length
      await owned(sessionId, [
        swap(run, {
          inboxReadThrough: run.inboxNext,
          interrupts,
          ...(wasAnswered ? { status: 'running' as const, parked: false } : {}),
        }),
      ])
      return run.unread
    },
    async end(sessionId, runId, status, { output, chunks = [] } = {}) {
      const run = await read(sessionId, runId)
      const streamId = streamIdOf(runId, run.record.stream + 1)
      const undelivered = run.unread.filter((key) => key.startsWith('message/'))
      const streamEnd: StreamEnd = status
      const last: JsonValue =
        status === 'completed'
          ? { type: 'finish', finishReason: 'stop' }
          : status === 'cancelled'
            ? { type: 'abort', reason: 'cancelled' }
            : { type: 'error', errorText: 'An error occurred.' }
      if (output !== undefined) outputs.set(runId, output)
      await owned(sessionId, [
        ...(await append(sessionId, streamId, [...chunks, last])),
        { kind: 'stream-close', streamId, end: streamEnd },
        swap(run, {
          status,
          parked: false,
          stream: run.record.stream + 1,
          interrupts: [],
          endedAt: system.now(),
        }),
        journal(run, [
          {
            kind: 'run-ended',
            at: system.now(),
            status,
            undelivered: undelivered.map((key) => key.slice('message/'.length)),
            superseded: [],
            inFlight: [],
          },
        ]),
      ])
    },
  }
}

function ended(): HoldfastError {
  return new HoldfastError(ErrorCode.runEnded, { message: 'It has ended.' })
}
