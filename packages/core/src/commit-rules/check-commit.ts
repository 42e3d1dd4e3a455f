import { ErrorCode } from '../error-codes.ts'
import { HoldfastError } from '../error.ts'
import { isUuid, parseStreamId } from '../ids.ts'
import type { SessionId } from '../ids.ts'
import { Limits } from '../limits.ts'
import type { LimitName } from '../limits.ts'
import { checkRunRecord } from '../run-codec.ts'
import type { RunRecord } from '../run.ts'
import type { Commit, StoreWrite } from '../store.ts'

const encoder = new TextEncoder()
const digestPattern = /^[0-9a-f]{64}$/

/**
 * Checks what needs no store: ids, names, whole numbers, sizes, and that a write which only an
 * owner may make carries a fence. Every store calls it before anything else.
 *
 * @throws `arguments_invalid`, `id_invalid`, `limit_exceeded`
 */
export function checkCommit(commit: Commit): void {
  checkUuid('sessionId', commit.sessionId)
  if (commit.commitId !== undefined) checkName('commitId', commit.commitId)
  if (commit.fence !== undefined) checkCount('fence.epoch', commit.fence.epoch)
  for (const write of commit.writes) checkWrite(commit, write)
}

/** Checks a session's id. @throws `id_invalid` */
export function checkSessionId(sessionId: SessionId): void {
  checkUuid('sessionId', sessionId)
}

function checkWrite(commit: Commit, write: StoreWrite): void {
  if (commit.fence === undefined && needsFence(commit, write)) {
    throw invalid(`A ${write.kind} needs the fence of the session's owner.`)
  }
  switch (write.kind) {
    case 'input-put':
      checkDigest(write.digest)
      checkSize('inputBytes', write.bytes.length)
      return
    case 'blob-put':
      checkUuid('runId', write.runId)
      checkDigest(write.digest)
      checkSize('valueBytes', write.bytes.length)
      return
    case 'run-create':
      checkRecord(commit, write.record)
      if (write.idempotencyKey !== undefined) checkName('idempotencyKey', write.idempotencyKey)
      return
    case 'run-swap':
      checkRecord(commit, write.record)
      checkCount('expectedRevision', write.expectedRevision)
      return
    case 'journal-append':
      checkUuid('runId', write.runId)
      checkCount('revision', write.revision)
      checkText('valueBytes', write.data)
      if (write.head !== undefined) checkText('runRecordBytes', JSON.stringify(write.head))
      return
    case 'stream-append':
      checkStreamId(write.streamId)
      checkCount('expectedNext', write.expectedNext)
      for (const chunk of write.chunks) {
        checkText('chunkBytes', chunk.data)
        if (chunk.tag !== undefined) checkName('tag', chunk.tag)
      }
      return
    case 'stream-close':
      checkStreamId(write.streamId)
      return
    case 'log-append':
      checkName('log', write.log)
      checkName('key', write.key)
      checkText('valueBytes', write.value)
      if (write.guard !== undefined) checkUuid('guard.runId', write.guard.runId)
      return
    case 'log-close':
      checkName('log', write.log)
      if (write.expectedNext !== undefined) checkCount('expectedNext', write.expectedNext)
      return
    case 'log-unchanged':
      checkName('log', write.log)
      checkCount('expectedNext', write.expectedNext)
      return
    case 'document-put':
      checkName('collection', write.collection)
      checkName('key', write.key)
      checkCount('expectedRevision', write.expectedRevision)
      checkText('documentBytes', write.value)
      return
    case 'document-delete':
      checkName('collection', write.collection)
      checkName('key', write.key)
      checkCount('expectedRevision', write.expectedRevision)
      return
    case 'run-purge':
      checkUuid('runId', write.runId)
      return
  }
}

/** Whether only the session's owner may make this write. A seed beside its run's creation is free. */
function needsFence(commit: Commit, write: StoreWrite): boolean {
  switch (write.kind) {
    case 'input-put':
    case 'blob-put':
    case 'run-create':
    case 'log-append':
    case 'log-unchanged':
    case 'document-put':
    case 'document-delete':
      return false
    case 'journal-append':
      return !(
        write.revision === 0 &&
        commit.writes.some(
          (other) => other.kind === 'run-create' && other.record.id === write.runId,
        )
      )
    case 'run-swap':
    case 'stream-append':
    case 'stream-close':
    case 'log-close':
    case 'run-purge':
      return true
  }
}

/**
 * A short digest of everything that a commit writes, by which a repeat under the same id is told
 * from another commit. It guards against mistakes, not against an adversary.
 */
export function commitFingerprint(commit: Commit): string {
  let low = 0xdeadbeef
  let high = 0x41c6ce57
  const mix = (code: number): void => {
    low = Math.imul(low ^ code, 2_654_435_761)
    high = Math.imul(high ^ code, 1_597_334_677)
  }
  const text = JSON.stringify(commit.writes, (_name, value: unknown) => {
    if (!(value instanceof Uint8Array)) return value
    for (const byte of value) mix(byte)
    return value.length
  })
  for (let index = 0; index < text.length; index += 1) mix(text.charCodeAt(index))
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0')
}

function checkRecord(commit: Commit, record: RunRecord): void {
  checkRunRecord(record)
  if (record.sessionId !== commit.sessionId) {
    throw invalid(`The record of run ${record.id} belongs to another session than the commit.`)
  }
}

function checkUuid(field: string, text: string): void {
  if (isUuid(text) && text === text.toLowerCase()) return
  throw new HoldfastError(ErrorCode.idInvalid, {
    message: `${field} must be a nonzero UUID in lower case.`,
    details: { field },
  })
}

function checkStreamId(streamId: string): void {
  if (parseStreamId(streamId) !== undefined) return
  throw new HoldfastError(ErrorCode.idInvalid, {
    message: 'streamId must be the id of a run, alone or followed by a dot and a number from 2.',
    details: { field: 'streamId' },
  })
}

function checkDigest(digest: string): void {
  if (!digestPattern.test(digest)) throw invalid('A digest is 64 hexadecimal digits in lower case.')
}

function checkCount(field: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 0) return
  throw invalid(`${field} must be a whole number from 0.`)
}

function checkName(field: string, name: string): void {
  if (name.length === 0) throw invalid(`${field} must not be empty.`)
  checkText('storageNameBytes', name)
}

/** What no database keeps as text: a zero, and half of a surrogate pair. */
const unstorable = /[\0\p{Surrogate}]/u

function checkText(limit: LimitName, text: string): void {
  if (unstorable.test(text)) {
    throw invalid('Text must be well-formed Unicode without U+0000.')
  }
  // A UTF-16 unit takes at most three bytes, so that most texts need not be encoded to be judged.
  if (text.length * 3 > Limits[limit]) checkSize(limit, encoder.encode(text).length)
}

function checkSize(limit: LimitName, size: number): void {
  if (size <= Limits[limit]) return
  throw new HoldfastError(ErrorCode.limitExceeded, {
    message: `A write has ${size} bytes; ${Limits[limit]} are allowed (${limit}).`,
    details: { limit, size, maximum: Limits[limit] },
  })
}

function invalid(message: string): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, { message })
}
