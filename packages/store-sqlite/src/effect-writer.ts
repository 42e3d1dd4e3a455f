import { encodeRunRecord, inboxOf, isTerminal } from '@holdfast/core'
import type { RunRecord, SessionId, StreamChunk } from '@holdfast/core'
import { logAt, runAt, streamAt } from '@holdfast/core/commit-rules'
import type { CommitEffect } from '@holdfast/core/commit-rules'
import { chunksText, digestBytes, endNumber, statusNumber, tagsText } from './columns.ts'
import type { SqlConnection, SqlStatement, SqlValue } from './driver.ts'
import type { GroupView } from './group-view.ts'

/** The most text in one row of chunks, so that a read from any index touches little more than it wants. */
const chunkRowLength = 64 * 1024

type Effect<Kind extends CommitEffect['kind']> = Extract<CommitEffect, { kind: Kind }>

/** Carries out, inside a transaction, what the rules have accepted. No statement here can conflict. */
export class EffectWriter {
  readonly #connection: SqlConnection
  readonly #statements = new Map<string, SqlStatement>()

  constructor(connection: SqlConnection) {
    this.#connection = connection
  }

  apply(effect: CommitEffect, group: GroupView, now: number): void {
    const { sessionId } = effect
    switch (effect.kind) {
      case 'session-insert':
        group.sessionKeys.set(
          sessionId,
          this.#run('insert into session (id, epoch) values (?, 0)', sessionId),
        )
        return
      case 'input-put':
        this.#run(
          'insert into input (session, digest, bytes) values (?, ?, ?)' +
            ' on conflict (session, digest) do nothing',
          sessionKey(group, sessionId),
          digestBytes(effect.digest),
          effect.bytes,
        )
        return
      case 'blob-put':
        this.#run(
          'insert into blob (run, digest, bytes) values (?, ?, ?)' +
            ' on conflict (run, digest) do nothing',
          runKey(group, effect),
          digestBytes(effect.digest),
          effect.bytes,
        )
        return
      case 'run-insert':
        this.#insertRun(effect, group)
        return
      case 'run-update':
        this.#updateRun(effect, group)
        return
      case 'run-ready':
        this.#run('update run set ready = 1 where key = ?', runKey(group, effect))
        return
      case 'run-remove':
        this.#removeRun(effect, group, now)
        return
      case 'journal-insert':
        this.#run(
          'insert into journal (run, revision, data, head) values (?, ?, ?, ?)',
          runKey(group, effect),
          effect.revision,
          effect.data,
          effect.head ?? effect.headRevision ?? null,
        )
        return
      case 'stream-insert':
        group.streamKeys.set(
          streamAt(sessionId, effect.runId, effect.number),
          this.#run(
            'insert into stream (run, number) values (?, ?)',
            runKey(group, effect),
            effect.number,
          ),
        )
        return
      case 'chunks-insert':
        this.#insertChunks(effect, group)
        return
      case 'stream-end':
        this.#run(
          'update stream set ended = ? where key = ?',
          endNumber(effect.end),
          keyOf(group.streamKeys, streamAt(sessionId, effect.runId, effect.number)),
        )
        return
      case 'log-insert':
        group.logKeys.set(
          logAt(sessionId, effect.log),
          this.#run(
            'insert into log (session, name, closed) values (?, ?, 0)',
            sessionKey(group, sessionId),
            effect.log,
          ),
        )
        return
      case 'log-entry-insert':
        this.#run(
          'insert into log_entry (log, sequence, key, value) values (?, ?, ?, ?)',
          keyOf(group.logKeys, logAt(sessionId, effect.log)),
          effect.sequence,
          effect.key,
          effect.value,
        )
        return
      case 'log-close':
        this.#run(
          'update log set closed = 1 where key = ?',
          keyOf(group.logKeys, logAt(sessionId, effect.log)),
        )
        return
      case 'document-write':
        this.#run(
          'insert into document (session, collection, key, revision, value) values (?, ?, ?, ?, ?)' +
            ' on conflict (session, collection, key)' +
            ' do update set revision = excluded.revision, value = excluded.value',
          sessionKey(group, sessionId),
          effect.collection,
          effect.key,
          effect.revision,
          effect.value ?? null,
        )
        return
      case 'commit-seen':
        this.#run(
          'insert into commit_seen (session, commit_id, fingerprint, receipt, seen_at)' +
            ' values (?, ?, ?, ?, ?)',
          sessionKey(group, sessionId),
          effect.commitId,
          effect.fingerprint,
          JSON.stringify(effect.receipt),
          now,
        )
        return
    }
  }

  #insertRun(effect: Effect<'run-insert'>, group: GroupView): void {
    const { sessionId, record, idempotencyKey } = effect
    const session = sessionKey(group, sessionId)
    const input = digestBytes(record.input.digest)
    const key = this.#run(
      'insert into run (session, id, definition, parent, input, idempotency_key, revision, status,' +
        ' parked, wake_at, stream, inbox_read, ready, record)' +
        ' values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      session,
      record.id,
      record.definition.name,
      record.parentRunId ?? null,
      input,
      idempotencyKey ?? null,
      ...rowValues(record, effect),
    )
    group.runKeys.set(runAt(sessionId, record.id), key)
    // A tombstone whose time has come does not stand in the way.
    this.#run('delete from tombstone where session = ? and run_id = ?', session, record.id)
    if (idempotencyKey === undefined) return
    this.#run(
      'insert into idempotency (session, key, run_id, input) values (?, ?, ?, ?)' +
        ' on conflict (session, key)' +
        ' do update set run_id = excluded.run_id, input = excluded.input, purged_at = null',
      session,
      idempotencyKey,
      record.id,
      input,
    )
  }

  #updateRun(effect: Effect<'run-update'>, group: GroupView): void {
    this.#run(
      'update run set revision = ?, status = ?, parked = ?, wake_at = ?, stream = ?,' +
        ' inbox_read = ?, ready = ?, record = ? where key = ?',
      ...rowValues(effect.record, effect),
      keyOf(group.runKeys, runAt(effect.sessionId, effect.record.id)),
    )
  }

  #insertChunks(effect: Effect<'chunks-insert'>, group: GroupView): void {
    const stream = keyOf(group.streamKeys, streamAt(effect.sessionId, effect.runId, effect.number))
    let { first } = effect
    for (const chunks of rowsOf(effect.chunks)) {
      const next = first + chunks.length
      this.#run(
        'insert into chunk (stream, first, next, data, tags) values (?, ?, ?, ?, ?)',
        stream,
        first,
        next,
        chunksText(chunks),
        tagsText(chunks),
      )
      first = next
    }
  }

  #removeRun(effect: Effect<'run-remove'>, group: GroupView, now: number): void {
    const { sessionId, runId, inputDigest, idempotencyKey } = effect
    const session = sessionKey(group, sessionId)
    const run = runKey(group, effect)
    const inbox = inboxOf(runId)
    const log = '(select key from log where session = ? and name = ?)'
    this.#run('delete from chunk where stream in (select key from stream where run = ?)', run)
    this.#run('delete from stream where run = ?', run)
    this.#run('delete from journal where run = ?', run)
    this.#run('delete from blob where run = ?', run)
    this.#run(`delete from log_entry where log = ${log}`, session, inbox)
    this.#run('delete from log where session = ? and name = ?', session, inbox)
    this.#run('delete from run where key = ?', run)
    this.#run(
      'delete from input where session = ? and digest = ? and not exists' +
        ' (select 1 from run where run.session = input.session and run.input = input.digest)',
      session,
      digestBytes(inputDigest),
    )
    this.#run(
      'insert into tombstone (session, run_id, purged_at) values (?, ?, ?)',
      session,
      runId,
      now,
    )
    if (idempotencyKey === undefined) return
    this.#run(
      'update idempotency set purged_at = ? where session = ? and key = ?',
      now,
      session,
      idempotencyKey,
    )
  }

  #run(sql: string, ...values: SqlValue[]): number {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#connection.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement.run(...values)
  }
}

/** What of a run's row is swapped: revision, status, parked, wake_at, stream, inbox_read, ready, record. */
function rowValues(
  record: RunRecord,
  { revision, ready }: { readonly revision: number; readonly ready: boolean },
): SqlValue[] {
  const sleeps = record.parked && !isTerminal(record.status)
  return [
    revision,
    statusNumber(record.status),
    record.parked ? 1 : 0,
    sleeps ? (record.wakeAt ?? null) : null,
    record.stream,
    record.inboxReadThrough,
    ready ? 1 : 0,
    encodeRunRecord(record),
  ]
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

function sessionKey(group: GroupView, sessionId: SessionId): number {
  return keyOf(group.sessionKeys, sessionId)
}

function runKey(
  group: GroupView,
  { sessionId, runId }: { readonly sessionId: SessionId; readonly runId: string },
): number {
  return keyOf(group.runKeys, runAt(sessionId, runId))
}

function keyOf(keys: ReadonlyMap<string, number>, at: string): number {
  const key = keys.get(at)
  if (key === undefined) throw new Error(`The row of ${at} was not loaded.`)
  return key
}
