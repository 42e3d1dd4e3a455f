import { Compile } from 'typebox/compile'
import { ErrorCode } from './error-codes.ts'
import { HoldfastError } from './error.ts'
import { Limits } from './limits.ts'
import { RunRecord, runRecordVersion } from './run.ts'

const encoder = new TextEncoder()

/** Compiled at its first use, so that importing this package does nothing. */
let compiled: { Check(value: unknown): boolean } | undefined

function isRunRecord(value: unknown): value is RunRecord {
  const validator = (compiled ??= Compile(RunRecord))
  return validator.Check(value)
}

/**
 * Checks a run's row before it is stored: what could not be read again is never written.
 *
 * @throws `arguments_invalid`, `limit_exceeded`
 */
export function checkRunRecord(record: RunRecord): void {
  if (!isRunRecord(record)) {
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: "A run's record does not fit its schema.",
    })
  }
  encodeRunRecord(record)
}

/** Encodes a run's row for a store. @throws `limit_exceeded` above 64 KiB */
export function encodeRunRecord(record: RunRecord): string {
  const text = JSON.stringify(record)
  if (text.length * 3 > Limits.runRecordBytes) {
    const size = encoder.encode(text).length
    if (size > Limits.runRecordBytes) {
      throw new HoldfastError(ErrorCode.limitExceeded, {
        message: `The record of run ${record.id} has ${size} bytes; ${Limits.runRecordBytes} are allowed.`,
        details: { limit: 'runRecordBytes', run_id: record.id },
      })
    }
  }
  return text
}

/**
 * Decodes a run's row strictly: unknown fields and wrong types are refused.
 *
 * @throws `record_from_newer_version`, `record_corrupt`
 */
export function decodeRunRecord(text: string): RunRecord {
  const value: unknown = parse(text)
  const version =
    typeof value === 'object' && value !== null && 'version' in value ? value.version : undefined
  if (typeof version === 'number' && version > runRecordVersion) {
    throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
      message: `A run's record has version ${version}; this release reads up to ${runRecordVersion}.`,
    })
  }
  if (isRunRecord(value)) return value
  throw corrupt()
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw corrupt(cause)
  }
}

function corrupt(cause?: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: "A run's stored record cannot be read.",
    cause,
  })
}
