// What an accepted group changes, as few calls that each write every table once.
//
// E1. Calls follow one another in the order of the effects; within a call removals come last.
// E2. A row that one group makes and changes is made once, as it is at the end.
import { encodeRunRecord, isTerminal } from '@holdfast/core'
import type { RunRecord, SessionId, StreamChunk } from '@holdfast/core'
import { documentAt, logAt, runAt, streamAt } from '@holdfast/core/commit-rules'
import type { CommitEffect } from '@holdfast/core/commit-rules'
import { chunksText, endNumber, statusNumber, tagsText } from './columns.ts'
import type { GroupView } from './group-view.ts'
import { sql, trusted } from './sql-text.ts'
import type { SqlText } from './sql-text.ts'

/** The most text in one row of chunks, so that a read from any index touches little more than it wants. */
const chunkRowLength = 64 * 1024

type Effect<Kind extends CommitEffect['kind']> = Extract<CommitEffect, { kind: Kind }>

/** A row of a call, by column. */
type Row = Readonly<Record<string, string | number | boolean | null>>

/** The parameters of `apply_group`. */
type Parameter =
  | 'sessions'
  | 'runs'
  | 'run_updates'
  | 'run_ready'
  | 'idempotency'
  | 'journal'
  | 'streams'
  | 'stream_ends'
  | 'chunks'
  | 'logs'
  | 'log_closes'
  | 'log_entries'
  | 'documents'
  | 'inputs'
  | 'blobs'
  | 'commits_seen'
  | 'removals'

/** Collects the effects of one group. */
export class EffectBatch {
  readonly #group: GroupView
  readonly #now: number
  readonly #calls: Call[] = [new Call()]

  constructor(group: GroupView, now: number) {
    this.#group = group
    this.#now = now
  }

  /** Whether anything is to be written. */
  get empty(): boolean {
    return this.#calls.every((call) => call.empty)
  }

  add(effect: CommitEffect): void {
    const call = this.#callFor(effect)
    const { sessionId } = effect
    switch (effect.kind) {
      case 'session-insert':
        call.add('sessions', { key: this.#session(sessionId), id: sessionId })
        return
      case 'input-put':
        call.add('inputs', {
          session: this.#session(sessionId),
          digest: effect.digest,
          bytes: base64(effect.bytes),
        })
        return
      case 'blob-put':
        call.add('blobs', {
          run: this.#run(effect),
          digest: effect.digest,
          bytes: base64(effect.bytes),
        })
        return
      case 'run-insert':
        this.#insertRun(call, effect)
        return
      case 'run-update': {
        const key = this.#run({ sessionId, runId: effect.record.id })
        const row = { key, ...changingColumns(effect.record, effect) }
        // The row says itself whether it is ready now.
        call.drop('run_ready', key)
        if (!call.merge('runs', key, row)) call.put('run_updates', key, row)
        return
      }
      case 'run-ready': {
        const key = this.#run(effect)
        const row = { ready: true }
        if (!call.merge('runs', key, row) && !call.merge('run_updates', key, row)) {
          call.put('run_ready', key, key)
        }
        return
      }
      case 'run-remove':
        call.add('removals', {
          session: this.#session(sessionId),
          run: this.#run(effect),
          run_id: effect.runId,
          input: effect.inputDigest,
          idempotency_key: effect.idempotencyKey ?? null,
          purged_at: this.#now,
        })
        return
      case 'journal-insert':
        call.add('journal', {
          run: this.#run(effect),
          revision: effect.revision,
          data: effect.data,
          ...(effect.head === undefined
            ? { head_revision: effect.headRevision ?? null }
            : { head: effect.head, head_revision: effect.revision }),
        })
        return
      case 'stream-insert':
        call.add('streams', {
          key: this.#stream(effect),
          run: this.#run(effect),
          number: effect.number,
        })
        return
      case 'chunks-insert':
        this.#insertChunks(call, effect)
        return
      case 'stream-end':
        call.add('stream_ends', { key: this.#stream(effect), ended: endNumber(effect.end) })
        return
      case 'log-insert':
        call.add('logs', {
          key: this.#log(sessionId, effect.log),
          session: this.#session(sessionId),
          name: effect.log,
        })
        return
      case 'log-entry-insert':
        call.add('log_entries', {
          log: this.#log(sessionId, effect.log),
          sequence: effect.sequence,
          key: effect.key,
          value: effect.value,
        })
        return
      case 'log-close': {
        const key = this.#log(sessionId, effect.log)
        call.put('log_closes', key, key)
        return
      }
      case 'document-write':
        call.put('documents', documentAt(sessionId, effect.collection, effect.key), {
          session: this.#session(sessionId),
          collection: effect.collection,
          key: effect.key,
          revision: effect.revision,
          value: effect.value ?? null,
        })
        return
      case 'commit-seen':
        call.add('commits_seen', {
          session: this.#session(sessionId),
          commit_id: effect.commitId,
          fingerprint: effect.fingerprint,
          receipt: JSON.stringify(effect.receipt),
          seen_at: this.#now,
        })
        return
    }
  }

  /** The calls, as statements for one message. */
  statements(schema: SqlText): SqlText {
    const calls = this.#calls.filter((call) => !call.empty)
    return trusted(calls.map((call) => call.statement(schema).text).join('; '))
  }

  /** What comes after a removal does so in a call of its own. */
  #callFor(effect: CommitEffect): Call {
    const last = this.#calls.at(-1) ?? new Call()
    if (!last.removes || effect.kind === 'run-remove') return last
    const next = new Call()
    this.#calls.push(next)
    return next
  }

  #insertRun(call: Call, effect: Effect<'run-insert'>): void {
    const { sessionId, record, idempotencyKey } = effect
    const session = this.#session(sessionId)
    const key = this.#run({ sessionId, runId: record.id })
    call.put('runs', key, {
      key,
      session,
      id: record.id,
      definition: record.definition.name,
      parent: record.parentRunId ?? null,
      input: record.input.digest,
      idempotency_key: idempotencyKey ?? null,
      ...changingColumns(record, effect),
    })
    if (idempotencyKey === undefined) return
    call.add('idempotency', {
      session,
      key: idempotencyKey,
      run_id: record.id,
      input: record.input.digest,
    })
  }

  #insertChunks(call: Call, effect: Effect<'chunks-insert'>): void {
    const stream = this.#stream(effect)
    let { first } = effect
    for (const chunks of rowsOf(effect.chunks)) {
      const next = first + chunks.length
      call.add('chunks', {
        stream,
        first,
        next,
        data: chunksText(chunks),
        tags: tagsText(chunks),
      })
      first = next
    }
  }

  #session(sessionId: SessionId): number {
    return keyOf(this.#group.sessionKeys, sessionId)
  }

  #run({ sessionId, runId }: { readonly sessionId: SessionId; readonly runId: string }): number {
    return keyOf(this.#group.runKeys, runAt(sessionId, runId))
  }

  #stream({
    sessionId,
    runId,
    number,
  }: {
    readonly sessionId: SessionId
    readonly runId: string
    readonly number: number
  }): number {
    return keyOf(this.#group.streamKeys, streamAt(sessionId, runId, number))
  }

  #log(sessionId: SessionId, log: string): number {
    return keyOf(this.#group.logKeys, logAt(sessionId, log))
  }
}

/** One call of `apply_group`. */
class Call {
  readonly #lists = new Map<Parameter, Map<string | number, Row | number>>()
  #count = 0

  get empty(): boolean {
    return this.#lists.size === 0
  }

  get removes(): boolean {
    return this.#lists.has('removals')
  }

  add(parameter: Parameter, row: Row): void {
    this.#count += 1
    this.put(parameter, `row ${this.#count}`, row)
  }

  /** A row of which there is one a key: a later one takes the place of an earlier one. */
  put(parameter: Parameter, key: string | number, row: Row | number): void {
    const list = this.#lists.get(parameter)
    if (list === undefined) this.#lists.set(parameter, new Map([[key, row]]))
    else list.set(key, row)
  }

  drop(parameter: Parameter, key: number): void {
    const list = this.#lists.get(parameter)
    if (list?.delete(key) === true && list.size === 0) this.#lists.delete(parameter)
  }

  /** Changes a row of this call, if it has it. */
  merge(parameter: Parameter, key: number, change: Row): boolean {
    const row = this.#lists.get(parameter)?.get(key)
    if (typeof row !== 'object') return false
    this.put(parameter, key, { ...row, ...change })
    return true
  }

  statement(schema: SqlText): SqlText {
    const values = [...this.#lists].map(
      ([parameter, list]) =>
        sql`${trusted(parameter)} => ${JSON.stringify([...list.values()])}`.text,
    )
    return sql`select ${schema}.apply_group(${trusted(values.join(', '))})`
  }
}

/** What of a run's row a swap changes. */
function changingColumns(
  record: RunRecord,
  { revision, ready }: { readonly revision: number; readonly ready: boolean },
): Row {
  const sleeps = record.parked && !isTerminal(record.status)
  return {
    revision,
    status: statusNumber(record.status),
    parked: record.parked,
    wake_at: sleeps ? (record.wakeAt ?? null) : null,
    stream: record.stream,
    inbox_read: record.inboxReadThrough,
    ready,
    record: encodeRunRecord(record),
  }
}

/** Chunks in pieces that fit a row each; a chunk that is larger by itself has a row of its own. */
function* rowsOf(chunks: readonly StreamChunk[]): Generator<readonly StreamChunk[]> {
  let from = 0
  let length = 0
  for (const [index, { data }] of chunks.entries()) {
    if (index > from && length + data.length > chunkRowLength) {
      yield chunks.slice(from, index)
      from = index
      length = 0
    }
    length += data.length
  }
  yield from === 0 ? chunks : chunks.slice(from)
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')
}

function keyOf(keys: ReadonlyMap<string, number>, at: string): number {
  const key = keys.get(at)
  if (key === undefined) throw new Error(`The row of ${at} was not loaded.`)
  return key
}
