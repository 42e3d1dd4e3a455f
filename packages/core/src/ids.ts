import Type, { type Static } from 'typebox'
import { v5 as uuidV5 } from 'uuid'
import { ErrorCode } from './error-codes.ts'
import { HoldfastError } from './error.ts'

const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
const zeroUuid = '00000000-0000-0000-0000-000000000000'
const uuidAnyCase = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A UUID in lower-case hyphenated text, never all zero. */
const Uuid = Type.String({ pattern: uuidPattern })

/** Owns runs, chats and streams; part of every key. A UUID. */
export const SessionId = Uuid
export type SessionId = Static<typeof SessionId>

/** Names a run. A UUIDv7, so that listing by id is listing by time up to clock skew. */
export const RunId = Uuid
export type RunId = Static<typeof RunId>

/** Names an answer's stream: `<runId>`, then `<runId>.2`, `<runId>.3`, … */
export type StreamId = string

/** The namespace in which users' own ids become session ids. */
const sessionNamespace = '6f2f3a34-5d0b-5a51-9b2a-0d6c1f1d7a10'

/** Maps a user's id of any form to a session id: the same text always gives the same UUID (v5). */
export function sessionIdFor(text: string): SessionId {
  return uuidV5(text, sessionNamespace)
}

/**
 * Parses a UUID given from outside: 36 hyphenated hex characters of any case, not all zero.
 * Returns it in lower case.
 *
 * @throws `id_invalid`, naming the field and not the value
 */
export function parseUuid(field: string, text: string): string {
  if (uuidAnyCase.test(text) && text !== zeroUuid) return text.toLowerCase()
  throw new HoldfastError(ErrorCode.idInvalid, {
    message: `${field} must be a nonzero UUID.`,
    details: { field },
  })
}

/** Whether text is a nonzero UUID in any case. */
export function isUuid(text: string): boolean {
  return uuidAnyCase.test(text) && text !== zeroUuid
}

/** The id of a run's k-th stream, k from 1. */
export function streamIdOf(runId: RunId, number: number): StreamId {
  return number === 1 ? runId : `${runId}.${number}`
}

/** Takes a stream id apart, or answers `undefined` if it is none. */
export function parseStreamId(
  streamId: string,
): { readonly runId: RunId; readonly number: number } | undefined {
  const match = /^([0-9a-f-]{36})(?:\.([1-9][0-9]{0,8}))?$/.exec(streamId)
  const [, runId, suffix] = match ?? []
  if (runId === undefined || !isUuid(runId)) return undefined
  const number = suffix === undefined ? 1 : Number(suffix)
  if (suffix !== undefined && number < 2) return undefined
  return { runId, number }
}

/** The log that holds a run's inbox: answers, cancel, messages, results of children. */
export function inboxOf(runId: RunId): string {
  return `inbox/${runId}`
}
