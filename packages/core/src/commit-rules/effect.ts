import type { HoldfastError } from '../error.ts'
import type { RunId, SessionId } from '../ids.ts'
import type { RunRecord } from '../run.ts'
import type { Receipt, StreamChunk, StreamEnd } from '../store.ts'

/** One change that an accepted commit makes, with everything assigned. Applying it cannot conflict. */
export type CommitEffect =
  /** The session has no row yet: epoch 0, no owner. */
  | { readonly kind: 'session-insert'; readonly sessionId: SessionId }
  | {
      readonly kind: 'input-put'
      readonly sessionId: SessionId
      readonly digest: string
      readonly bytes: Uint8Array
    }
  | {
      readonly kind: 'blob-put'
      readonly sessionId: SessionId
      readonly runId: RunId
      readonly digest: string
      readonly bytes: Uint8Array
    }
  | {
      readonly kind: 'run-insert'
      readonly sessionId: SessionId
      readonly record: RunRecord
      readonly revision: number
      readonly ready: boolean
      readonly idempotencyKey?: string
    }
  | {
      readonly kind: 'run-update'
      readonly sessionId: SessionId
      readonly record: RunRecord
      readonly revision: number
      readonly ready: boolean
    }
  /** The inbox of a parked run grew: its row is marked as work, without a new revision. */
  | { readonly kind: 'run-ready'; readonly sessionId: SessionId; readonly runId: RunId }
  /** Removes row, journal, streams, blobs, inbox, and the input unless another run refers to it. */
  | {
      readonly kind: 'run-remove'
      readonly sessionId: SessionId
      readonly runId: RunId
      readonly inputDigest: string
      readonly idempotencyKey?: string
    }
  | {
      readonly kind: 'journal-insert'
      readonly sessionId: SessionId
      readonly runId: RunId
      readonly revision: number
      readonly data: string
      /** This revision's head as JSON text. */
      readonly head?: string
      /** With no head of its own: the newest revision that has one. */
      readonly headRevision?: number
    }
  | {
      readonly kind: 'stream-insert'
      readonly sessionId: SessionId
      readonly runId: RunId
      readonly number: number
    }
  | {
      readonly kind: 'chunks-insert'
      readonly sessionId: SessionId
      readonly runId: RunId
      readonly number: number
      readonly first: number
      readonly chunks: readonly StreamChunk[]
    }
  | {
      readonly kind: 'stream-end'
      readonly sessionId: SessionId
      readonly runId: RunId
      readonly number: number
      readonly end: StreamEnd
    }
  | { readonly kind: 'log-insert'; readonly sessionId: SessionId; readonly log: string }
  | {
      readonly kind: 'log-entry-insert'
      readonly sessionId: SessionId
      readonly log: string
      readonly sequence: number
      readonly key: string
      readonly value: string
    }
  | { readonly kind: 'log-close'; readonly sessionId: SessionId; readonly log: string }
  /** `value` absent: deleted, its revision kept. */
  | {
      readonly kind: 'document-write'
      readonly sessionId: SessionId
      readonly collection: string
      readonly key: string
      readonly revision: number
      readonly value?: string
    }
  | {
      readonly kind: 'commit-seen'
      readonly sessionId: SessionId
      readonly commitId: string
      readonly fingerprint: string
      readonly receipt: Receipt
    }

/** What becomes of a commit. */
export type Verdict =
  | {
      readonly kind: 'accepted'
      readonly receipt: Receipt
      readonly effects: readonly CommitEffect[]
    }
  /** Its id was accepted before with the same content: the first receipt, nothing to write. */
  | { readonly kind: 'repeated'; readonly receipt: Receipt }
  /** A precondition failed; the view is as it was. */
  | { readonly kind: 'refused'; readonly error: HoldfastError }
