import Type, { type Static } from 'typebox'
import { Check } from 'typebox/value'
import { ErrorCode, HoldfastError, RunError, RunId } from '@holdfast/core'
import type { JsonValue, LogEntry } from '@holdfast/core'

const Json = Type.Unsafe<JsonValue>(Type.Unknown())

/** The version of the inbox's form that this release writes. */
export const inboxVersion = 1

/** What can reach a run from outside. */
export const InboxEntry = Type.Union([
  Type.Object(
    {
      kind: Type.Literal('answer'),
      at: Type.Number(),
      interruptId: Type.String(),
      payload: Json,
      by: Type.Union([Type.Literal('person'), Type.Literal('model'), Type.Literal('host')]),
      idempotencyKey: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal('cancel'),
      at: Type.Number(),
      reason: Type.String(),
      by: Type.Union([
        Type.Literal('person'),
        Type.Literal('model'),
        Type.Literal('host'),
        Type.Literal('parent'),
      ]),
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { kind: Type.Literal('message'), at: Type.Number(), id: Type.String(), body: Json },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kind: Type.Literal('child'),
      at: Type.Number(),
      runId: RunId,
      status: Type.Union([
        Type.Literal('completed'),
        Type.Literal('cancelled'),
        Type.Literal('failed'),
      ]),
      error: Type.Optional(RunError),
    },
    { additionalProperties: false },
  ),
])
export type InboxEntry = Static<typeof InboxEntry>

/** Encodes an entry for a run's inbox. */
export function encodeInboxEntry(entry: InboxEntry): string {
  return JSON.stringify({ v: inboxVersion, ...entry })
}

/** Decodes an entry of a run's inbox strictly. @throws `record_from_newer_version`, `record_corrupt` */
export function decodeInboxEntry(entry: LogEntry): InboxEntry {
  const stored = parse(entry)
  if (typeof stored === 'object' && stored !== null && 'v' in stored) {
    const { v, ...rest } = stored
    if (typeof v === 'number' && v > inboxVersion) {
      throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
        message: `An inbox entry has version ${v}; this release reads up to ${inboxVersion}.`,
      })
    }
    if (v === inboxVersion && Check(InboxEntry, rest)) return rest
  }
  throw corrupt(entry)
}

function parse(entry: LogEntry): unknown {
  try {
    return JSON.parse(entry.value)
  } catch (cause) {
    throw corrupt(entry, cause)
  }
}

function corrupt(entry: LogEntry, cause?: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: `Entry ${entry.sequence} of an inbox cannot be read.`,
    details: { sequence: entry.sequence },
    cause,
  })
}
