import { describe, expect, it } from 'vitest'
import { decodeRunRecord, encodeRunRecord, Limits } from '../src/index.ts'
import type { RunRecord } from '../src/index.ts'

const record: RunRecord = {
  version: 1,
  id: '0190a1b2-0000-7000-8000-000000000001',
  sessionId: '0190a1b2-0000-7000-8000-00000000000a',
  definition: { name: 'refund_order', version: 'v1', digest: 'd' },
  parentRunId: '0190a1b2-0000-7000-8000-000000000002',
  input: { digest: 'a'.repeat(64), size: 2 },
  artifactNamespace: {
    sessionId: '0190a1b2-0000-7000-8000-00000000000a',
    runId: '0190a1b2-0000-7000-8000-000000000001',
  },
  status: 'interrupted',
  statusSummary: 'Ein Mensch muß entscheiden \u{1f600}',
  parked: true,
  wakeAt: 1_500.5,
  interrupts: [
    {
      id: 'i',
      key: 'approve',
      revision: 3,
      answer: 'person',
      schema: { type: 'object' },
      payload: null,
      openedAt: 1,
    },
  ],
  artifacts: [{ id: 'a', kind: 'report', digest: 'b'.repeat(64), size: 0 }],
  stream: 1,
  inboxReadThrough: 2,
  recoveries: 0,
  createdAt: 1,
  updatedAt: 2,
}

/** The record with a summary that makes its encoding this long. */
function ofBytes(bytes: number): RunRecord {
  const empty = new TextEncoder().encode(encodeRunRecord({ ...record, statusSummary: '' })).length
  return { ...record, statusSummary: 'x'.repeat(bytes - empty) }
}

describe('a run record', () => {
  it('is the same after encoding and decoding', () => {
    expect(decodeRunRecord(encodeRunRecord(record))).toEqual(record)
  })

  it('has at most 64 KiB, counted in bytes', () => {
    expect(encodeRunRecord(ofBytes(Limits.runRecordBytes))).toHaveLength(Limits.runRecordBytes)
    expect(() => encodeRunRecord(ofBytes(Limits.runRecordBytes + 1))).toThrow(
      expect.objectContaining({ code: 'limit_exceeded', details: expect.objectContaining({}) }),
    )
    const wide = { ...record, statusSummary: 'é'.repeat(Limits.runRecordBytes / 2) }
    expect(() => encodeRunRecord(wide)).toThrow(expect.objectContaining({ code: 'limit_exceeded' }))
  })

  it('is read strictly: unknown fields, wrong types and missing ones are refused', () => {
    const { status: _status, ...without } = record
    const broken = [
      { ...record, unknown: 1 },
      { ...record, status: 'sleeping' },
      { ...record, stream: -1 },
      { ...record, definition: { ...record.definition, more: 1 } },
      { ...record, id: record.id.toUpperCase() },
      without,
      [record],
      null,
    ]
    for (const value of broken) {
      expect(() => decodeRunRecord(JSON.stringify(value))).toThrow(
        expect.objectContaining({ code: 'record_corrupt' }),
      )
    }
    for (const text of ['', '{', 'undefined']) {
      expect(() => decodeRunRecord(text)).toThrow(
        expect.objectContaining({ code: 'record_corrupt' }),
      )
    }
  })

  it('of a newer version is refused as such, whatever else it holds', () => {
    expect(() => decodeRunRecord(JSON.stringify({ version: 2, entirely: 'new' }))).toThrow(
      expect.objectContaining({ code: 'record_from_newer_version' }),
    )
    expect(() => decodeRunRecord(JSON.stringify({ ...record, version: 0 }))).toThrow(
      expect.objectContaining({ code: 'record_corrupt' }),
    )
  })
})
