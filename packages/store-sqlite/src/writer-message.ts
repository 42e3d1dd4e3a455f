import { HoldfastError, StoreConflictError } from '@holdfast/core'
import type {
  Commit,
  ErrorCode,
  ConflictFacts,
  JsonObject,
  Receipt,
  SessionClaim,
  SessionId,
} from '@holdfast/core'
import type { SqliteDriverName } from './named-driver.ts'

/**
 * A commit on its way to the writer: JSON text, which is quicker to send than objects, and the bytes
 * that its writes refer to by their place. Made when a commit is asked for, so that what its caller
 * does with it afterwards changes nothing.
 */
export interface EncodedCommit {
  readonly text: string
  readonly bytes?: readonly Uint8Array[]
}

/** A request on its way to the writer. */
export type EncodedRequest =
  | { readonly id: number; readonly kind: 'commit'; readonly commit: EncodedCommit }
  | Exclude<WriterRequest, { readonly kind: 'commit' }>

/** What a store asks of its writer. */
export type WriterRequest =
  | { readonly id: number; readonly kind: 'commit'; readonly commit: Commit }
  | { readonly id: number; readonly kind: 'claim'; readonly sessionId: SessionId }
  | { readonly id: number; readonly kind: 'release'; readonly claim: SessionClaim }

/** What a writer answers. `work`: a session without a live owner may have work now. */
export type WriterResponse =
  | {
      readonly id: number
      readonly kind: 'committed'
      readonly receipt: Receipt
      readonly work: boolean
      /** Nothing was written: the commit had been accepted before. */
      readonly repeated: boolean
    }
  | { readonly id: number; readonly kind: 'claimed'; readonly claim: SessionClaim }
  | { readonly id: number; readonly kind: 'released'; readonly work: boolean }
  | { readonly id: number; readonly kind: 'failed'; readonly error: WriterError }

/** An error that can be sent from one thread to another. */
export interface WriterError {
  readonly code: ErrorCode
  readonly message: string
  readonly details: JsonObject
  readonly retryable: boolean
  readonly facts?: ConflictFacts
  /** What the cause said, for logs. */
  readonly cause?: string
}

/** To the writer's thread. */
export type WriterInput =
  | { readonly kind: 'write'; readonly now: number; readonly requests: readonly EncodedRequest[] }
  | { readonly kind: 'poll'; readonly on: boolean }
  | { readonly kind: 'close' }

/** From the writer's thread. */
export type WriterOutput =
  | { readonly kind: 'opened'; readonly node: number | undefined }
  | { readonly kind: 'failed-to-open'; readonly error: WriterError }
  | { readonly kind: 'written'; readonly responses: readonly WriterResponse[] }
  /** Another process has changed the file. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'closed' }

/** How a writer's thread is opened. */
export interface WriterSettings {
  readonly driver: SqliteDriverName
  readonly path: string
  /** The node's id; absent for a client. */
  readonly node?: string
  readonly pid: number
  readonly tombstoneMs: number
}

/** Encodes a commit for sending. */
export function encodeCommit(commit: Commit): EncodedCommit {
  const bytes: Uint8Array[] = []
  const writes = commit.writes.map((write) => {
    if (write.kind !== 'input-put' && write.kind !== 'blob-put') return write
    bytes.push(write.bytes.slice())
    return { ...write, bytes: bytes.length - 1 }
  })
  if (bytes.length === 0) return { text: JSON.stringify(commit) }
  return { text: JSON.stringify({ ...commit, writes }), bytes }
}

/** Decodes a request that a store has sent. */
export function decodeRequest(request: EncodedRequest): WriterRequest {
  if (request.kind !== 'commit') return request
  const { text, bytes } = request.commit
  const commit = JSON.parse(text) as Commit
  if (bytes === undefined) return { ...request, commit }
  const writes = commit.writes.map((write) => {
    if (write.kind !== 'input-put' && write.kind !== 'blob-put') return write
    const sent = bytes[Number(write.bytes)]
    return sent === undefined ? write : { ...write, bytes: sent }
  })
  return { ...request, commit: { ...commit, writes } }
}

/** Takes an error apart for sending. */
export function sendableError(error: HoldfastError): WriterError {
  const { code, message, details, retryable, cause } = error
  return {
    code,
    message,
    details,
    retryable,
    ...(error instanceof StoreConflictError ? { facts: error.facts } : {}),
    ...(cause instanceof Error ? { cause: `${cause.name}: ${cause.message}` } : {}),
  }
}

/** Puts an error together again on the other side. */
export function receivedError(error: WriterError): HoldfastError {
  const { code, message, details, retryable, facts, cause } = error
  if (facts !== undefined) return new StoreConflictError(facts)
  return new HoldfastError(code, {
    message,
    details,
    retryable,
    ...(cause === undefined ? {} : { cause: new Error(cause) }),
  })
}
