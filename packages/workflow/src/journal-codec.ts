import { Check } from 'typebox/value'
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JournalRow } from '@holdfast/core'
import { journalEntrySchemas } from './journal-entry.ts'
import type { JournalEntry, JournalEntryKind, JournalRevision } from './journal-entry.ts'

/** The version of the journal's form that this release writes. */
export const journalVersion = 1

/** Encodes one revision's entries for a store. */
export function encodeEntries(entries: readonly JournalEntry[], completedSteps: number): string {
  return JSON.stringify({ v: journalVersion, n: completedSteps, e: entries })
}

/**
 * Decodes one revision strictly: unknown kinds and fields are refused.
 *
 * @throws `record_from_newer_version`, `record_corrupt`
 */
export function decodeEntries(row: JournalRow): JournalRevision {
  const stored = parse(row)
  if (typeof stored !== 'object' || stored === null) throw corrupt(row)
  const { v, n, e } = stored as { v?: unknown; n?: unknown; e?: unknown }
  if (typeof v === 'number' && v > journalVersion) {
    throw new HoldfastError(ErrorCode.recordFromNewerVersion, {
      message: `A journal has version ${v}; this release reads up to ${journalVersion}.`,
      details: { revision: row.revision },
    })
  }
  if (v !== journalVersion || typeof n !== 'number' || !Array.isArray(e)) throw corrupt(row)
  if (!e.every(isEntry)) throw corrupt(row)
  return { revision: row.revision, completedSteps: n, entries: e }
}

function isEntry(value: unknown): value is JournalEntry {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false
  const { kind } = value
  if (typeof kind !== 'string' || !Object.hasOwn(journalEntrySchemas, kind)) return false
  return Check(journalEntrySchemas[kind as JournalEntryKind], value)
}

function parse(row: JournalRow): unknown {
  try {
    return JSON.parse(row.data)
  } catch (cause) {
    throw corrupt(row, cause)
  }
}

function corrupt(row: JournalRow, cause?: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.recordCorrupt, {
    message: `Revision ${row.revision} of a journal cannot be read.`,
    details: { revision: row.revision },
    cause,
  })
}
