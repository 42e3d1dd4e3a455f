// Values and errors on their way to the journal and back. What a definition gets is always the
// decoding of what was journaled, live too.
import {
  ErrorCode,
  HoldfastError,
  isHoldfastError,
  Limits,
  type BlobPut,
  type JsonObject,
  type JsonValue,
  type Store,
} from '@holdfast/core'
import {
  checkJsonValue,
  decodeJson,
  isJsonObject,
  sha256Hex,
  truncateUtf8,
  utf8Length,
} from '@holdfast/json'
import type { StoredError, StoredValue } from '@holdfast/workflow'

const encoder = new TextEncoder()
const errorNameBytes = 256
const errorMessageBytes = 4_096
const errorDetailsBytes = 8_192
const codes: ReadonlySet<string> = new Set(Object.values(ErrorCode))

/** A value ready to be journaled. */
export interface EncodedValue {
  readonly stored: StoredValue
  /** To be put in the same commit, for a value over 32 KiB. */
  readonly blob?: BlobPut
  /** What decoding the journaled bytes gives. */
  readonly value: JsonValue | undefined
}

/**
 * Encodes a value for a run's journal: inline, or as a blob of the run above 32 KiB.
 *
 * @throws `json_unsupported_value` and its like for what JSON cannot hold; `limit_exceeded` above 8 MiB
 */
export function encodeValue(runId: string, value: unknown): EncodedValue {
  if (value === undefined) return { stored: { none: true }, value: undefined }
  const copy = checkJsonValue(value)
  if (isSurelySmall(copy)) return { stored: { json: copy }, value: copy }
  const text = JSON.stringify(copy)
  if (text.length * 3 <= Limits.valueInlineBytes) return { stored: { json: copy }, value: copy }
  const size = utf8Length(text)
  if (size <= Limits.valueInlineBytes) return { stored: { json: copy }, value: copy }
  if (size > Limits.valueBytes) {
    throw new HoldfastError(ErrorCode.limitExceeded, {
      message: `A value has ${size} bytes; ${Limits.valueBytes} are allowed.`,
      details: { limit: 'valueBytes' },
    })
  }
  const bytes = encoder.encode(text)
  const digest = sha256Hex(bytes)
  return {
    stored: { blob: digest, size },
    blob: { kind: 'blob-put', runId, digest, bytes },
    value: copy,
  }
}

function isSurelySmall(value: JsonValue): boolean {
  return typeof value !== 'object'
    ? typeof value !== 'string' || value.length < 1_024
    : value === null
}

/** Reads a journaled value back. @throws `record_corrupt` when its blob is gone */
export async function decodeValue(
  store: Pick<Store, 'blob'>,
  run: { readonly sessionId: string; readonly runId: string },
  stored: StoredValue,
): Promise<JsonValue | undefined> {
  if ('json' in stored) return stored.json
  if ('none' in stored) return undefined
  const bytes = await store.blob(run.sessionId, run.runId, stored.blob)
  if (bytes !== undefined) return decodeJson(bytes)
  throw new HoldfastError(ErrorCode.recordCorrupt, {
    message: `A value of run ${run.runId} is missing.`,
    details: { run_id: run.runId },
  })
}

/** What is read of errors. */
const facts = ['name', 'message', 'code', 'retryable', 'notExecuted', 'cause'] as const

/** What was thrown, or an error in its place if it cannot even be looked at. */
export function tamed(thrown: unknown): unknown {
  if (typeof thrown !== 'object' || thrown === null) return thrown
  try {
    const isError = thrown instanceof Error || isHoldfastError(thrown)
    for (const fact of facts) if (isError || fact in thrown) Reflect.get(thrown, fact)
    return thrown
  } catch {
    return new Error('An error that cannot be looked at.')
  }
}

/** An error as it is journaled: bounded, without stack and cause. */
export function encodeError(error: unknown, retryable: boolean): StoredError {
  if (isHoldfastError(error)) {
    return {
      name: truncateUtf8(error.name, errorNameBytes),
      message: truncateUtf8(error.message, errorMessageBytes),
      code: error.code,
      retryable,
      ours: true,
      ...detailsOf(error.details),
    }
  }
  if (!(error instanceof Error)) {
    return { name: 'Error', message: truncateUtf8(textOf(error), errorMessageBytes), retryable }
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    name: truncateUtf8(textOf(error.name), errorNameBytes),
    message: truncateUtf8(textOf(error.message), errorMessageBytes),
    retryable,
    ...(code === undefined ? {} : { code: truncateUtf8(code, errorNameBytes) }),
  }
}

const journaled = new WeakMap<Error, StoredError>()

/** What was journaled of an error that a definition got, if it got it from its journal. */
export function journaledError(error: unknown): StoredError | undefined {
  return error instanceof Error ? journaled.get(error) : undefined
}

/** The error that a journaled one stands for; the same live and on replay. */
export function decodeError(stored: StoredError): Error {
  if (stored.ours === true && isErrorCode(stored.code)) {
    return new HoldfastError(stored.code, {
      message: stored.message,
      retryable: stored.retryable,
      ...(stored.details !== undefined && isJsonObject(stored.details)
        ? { details: stored.details }
        : {}),
    })
  }
  const error = new Error(stored.message)
  error.name = stored.name
  journaled.set(error, stored)
  return Object.assign(error, {
    retryable: stored.retryable,
    ...(stored.code === undefined ? {} : { code: stored.code }),
  })
}

/** Whether text is one of Holdfast's codes. */
export function isErrorCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && codes.has(code)
}

function detailsOf(details: JsonObject): { readonly details?: JsonObject } {
  if (Object.keys(details).length === 0) return {}
  try {
    const copy = checkJsonValue(details)
    const fits = utf8Length(JSON.stringify(copy)) <= errorDetailsBytes
    return fits && isJsonObject(copy) ? { details: copy } : {}
  } catch {
    return {}
  }
}

/** Text of anything that was thrown; never throws, never holds a lone surrogate. */
function textOf(value: unknown): string {
  try {
    return String(value).replaceAll(/\p{Surrogate}/gu, '\uFFFD')
  } catch {
    return 'an error without text'
  }
}
