import type { UiChunk } from '@holdfast/chat-protocol'
import { describe, expect, test } from 'vitest'
import type { AnswerEvidence, CrashRecord, Reading } from '../crash/evidence.ts'
import { countedKinds, rareKinds, summarize, sumOf } from '../crash/summary.ts'
import { problemsOf } from '../crash/verdict.ts'
import {
  answer,
  chunks,
  goodRecord as good,
  output,
  reading,
  refundId,
  runId,
} from './good-record.ts'

function kindsOf(record: CrashRecord): readonly string[] {
  return [...new Set(problemsOf(record).map(({ kind }) => kind))]
}

/** The record with another end of its refund. */
function withRefund(seen: CrashRecord['runs'][number]['seen']): CrashRecord {
  const [text] = good.runs
  if (text === undefined) throw new Error('no run')
  const refund = {
    runId: refundId,
    scenario: 'refund',
    rightEnds: [{ status: 'completed', output }],
  } as const
  return { ...good, runs: [text, seen === undefined ? refund : { ...refund, seen }] }
}

function withReading(change: Partial<Reading>): CrashRecord {
  const streams = answer.streams.map((stream) => ({
    ...stream,
    readings: [{ ...reading, ...change }],
  }))
  return { ...good, answers: [{ ...answer, streams }] }
}

function withWhole(whole: readonly UiChunk[], indexes = whole.map((_, index) => index)) {
  const streams = [{ streamId: runId, whole: { indexes, chunks: whole }, readings: [] }]
  return { ...good, answers: [{ ...answer, streams }] }
}

describe('the verdict about a crash run', () => {
  test('finds nothing where everything stood', () => {
    expect(problemsOf(good)).toEqual([])
  })

  test('finds a run that is not known any more', () => {
    expect(kindsOf(withRefund(undefined))).toContain('lost_run')
  })

  test('finds a run that has not ended, has failed or gave something else', () => {
    expect(kindsOf(withRefund({ status: 'running' }))).toContain('lost_run')
    expect(kindsOf(withRefund({ status: 'failed', error: 'crash_loop' }))).toContain('lost_run')
    const other = { ...output, refunded: false }
    expect(kindsOf(withRefund({ status: 'completed', output: other }))).toEqual([
      'lost_run',
      'lost_inbox',
    ])
  })

  test('finds an effect that happened twice, and one that nobody asked for', () => {
    const [effect] = good.effects
    if (effect === undefined) throw new Error('no effect')
    expect(kindsOf({ ...good, effects: [effect, effect] })).toEqual(['duplicated_effect'])
    for (const orderId of ['500002', '1001']) {
      const unasked = { ...effect, orderId }
      expect(kindsOf({ ...good, effects: [effect, unasked] })).toEqual(['duplicated_effect'])
    }
    const strayRuns = [{ runId: 'run', definition: 'refund_order' }]
    expect(kindsOf({ ...good, strayRuns })).toEqual(['duplicated_effect'])
  })

  test('finds an effect that did not happen, or not as it was asked for', () => {
    expect(kindsOf({ ...good, effects: [] })).toEqual(['lost_run'])
    const other = [{ kind: 'refund', orderId: '500001', amount: 41 }]
    expect(kindsOf({ ...good, effects: other })).toEqual(['lost_run'])
  })

  test('leaves open whether an effect happened whose request was never acknowledged', () => {
    const [effect] = good.effects
    if (effect === undefined) throw new Error('no effect')
    const record = (effects: CrashRecord['effects']): CrashRecord => ({
      ...good,
      expectedEffects: good.expectedEffects.map((one) => ({ ...one, times: 'at most 1' })),
      effects,
    })
    expect(problemsOf(record([]))).toEqual([])
    expect(problemsOf(record([effect]))).toEqual([])
    expect(kindsOf(record([effect, effect]))).toEqual(['duplicated_effect'])
    expect(kindsOf(record([{ ...effect, amount: 41 }]))).toEqual(['lost_run'])
  })

  test('finds a cancel, an approval and a message that were not carried out', () => {
    const scenario = 'text'
    const inbox = { ...good, inbox: [{ scenario, kind: 'cancel', runId }] } as const
    expect(kindsOf(inbox)).toEqual(['lost_inbox'])
    const approval = {
      scenario,
      kind: 'approval',
      runId,
      toolCallId: 'call',
      approved: true,
    } as const
    expect(kindsOf({ ...good, inbox: [approval] })).toEqual(['lost_inbox'])
    const message = {
      scenario,
      kind: 'message',
      chatId: 'chat',
      messageId: 'm',
      reply: '3',
    } as const
    expect(kindsOf({ ...good, inbox: [message] })).toEqual(['lost_inbox'])
    const silent = { ...good, chats: good.chats.map((chat) => ({ ...chat, shown: [] })) }
    expect(kindsOf(silent)).toEqual(['lost_inbox', 'stream_mismatch'])
  })

  test('finds a reader who got a chunk twice, lacks one or never saw the end', () => {
    const twice = chunks.flatMap((chunk, index) => (index === 3 ? [chunk, chunk] : [chunk]))
    expect(kindsOf(withReading({ chunks: twice }))).toEqual(['stream_mismatch'])
    expect(kindsOf(withReading({ chunks: chunks.toSpliced(4, 1) }))).toEqual(['stream_mismatch'])
    expect(kindsOf(withReading({ end: 'broken', failure: 'gone' }))).toEqual(['stream_mismatch'])
    expect(kindsOf(withReading({ next: 3, chunks: chunks.slice(0, 3) }))).toEqual([
      'stream_mismatch',
    ])
    const left = { end: 'left', next: 3, chunks: chunks.slice(0, 3) } as const
    expect(kindsOf(withReading(left))).toEqual([])
  })

  test('finds a tail that renders otherwise than the whole', () => {
    const tail = { asked: -2, from: 4, chunks: chunks.slice(4) }
    expect(kindsOf(withReading(tail))).toEqual(['stream_mismatch'])
    const atStartOfPart = { asked: -5, from: 2, chunks: chunks.slice(2) }
    expect(kindsOf(withReading(atStartOfPart))).toEqual([])
  })

  test('finds a stream with a gap, without an end, with text doubled or without its beginning', () => {
    expect(kindsOf(withWhole(chunks, [0, 1, 2, 3, 5, 6, 7, 8]))).toEqual(['stream_mismatch'])
    expect(kindsOf(withWhole(chunks.slice(0, -1)))).toEqual(['stream_mismatch'])
    const doubled = chunks.toSpliced(3, 0, { type: 'text-delta', id: 'text', delta: '1 ' })
    expect(kindsOf(withWhole(doubled))).toEqual(['stream_mismatch'])
    expect(kindsOf(withWhole(chunks.toSpliced(2, 1)))).toEqual(['stream_mismatch'])
    const lost = { ...good, answers: [{ ...answer, streams: [{ streamId: runId, readings: [] }] }] }
    expect(kindsOf(lost)).toEqual(['stream_mismatch'])
  })

  test('finds a stream of the whole message that renders otherwise', () => {
    const whole = chunks.toSpliced(3, 1)
    const indexes = whole.map((_, index) => index)
    const streamId = `${runId}.1-2`
    const record = (held: AnswerEvidence['messageStreams']): CrashRecord => ({
      ...good,
      answers: [{ ...answer, messageStreams: held }],
    })
    expect(kindsOf(record([{ ...answer.streams[0], streamId, readings: [] }]))).toEqual([])
    expect(
      kindsOf(record([{ streamId, whole: { indexes, chunks: whole }, readings: [] }])),
    ).toEqual(['stream_mismatch'])
    expect(kindsOf(record([{ streamId, readings: [] }]))).toEqual(['stream_mismatch'])
  })

  test('takes the start of the text for an answer that was stopped, and no other text', () => {
    const [run, refund] = good.runs
    if (run === undefined || refund === undefined) throw new Error('no run')
    const stopped = {
      ...run,
      rightEnds: [{ status: 'cancelled' }],
      seen: { status: 'cancelled' },
    } as const
    const record = (delta: string): CrashRecord => {
      const whole: readonly UiChunk[] = [
        ...chunks.slice(0, 3),
        { type: 'text-delta', id: 'text', delta },
        { type: 'abort' },
      ]
      const streams = [
        { streamId: runId, whole: { indexes: [0, 1, 2, 3, 4], chunks: whole }, readings: [] },
      ]
      return {
        ...good,
        runs: [stopped, refund],
        inbox: [{ scenario: 'text', kind: 'cancel', runId }],
        answers: [{ ...answer, streams, sdk: { text: delta } }],
        chats: good.chats.map((chat) => ({
          ...chat,
          shown: chat.shown.map((one) => (one.id === runId ? { ...one, text: delta } : one)),
        })),
      }
    }
    expect(problemsOf(record('1 '))).toEqual([])
    expect(kindsOf(record('2'))).toEqual(['stream_mismatch'])
  })

  test('fails when too few kills hit work, and when something else went wrong', () => {
    expect(kindsOf({ ...good, kills: 3 })).toEqual(['failure'])
    expect(kindsOf({ ...good, failures: ['the server ended by itself'] })).toEqual(['failure'])
  })
})

describe('the figures of a crash run', () => {
  test('count what went wrong by kind', () => {
    const summary = summarize(good, [
      { kind: 'lost_run', text: '' },
      { kind: 'stream_mismatch', text: '' },
      { kind: 'stream_mismatch', text: '' },
    ])
    expect(summary).toEqual({
      kills: 2,
      kills_in_flight: 1,
      chats: 1,
      runs: 2,
      approvals: 0,
      interrupts: 1,
      resumes: 1,
      cancels: 0,
      steered: 0,
      tool_calls: 0,
      reconnects: 1,
      lost_runs: 1,
      lost_inbox: 0,
      duplicated_effects: 0,
      stream_mismatches: 2,
      seconds: 1.2,
    })
  })

  test('of ten seeds must hold every kind at least five times', () => {
    const summary = summarize(good, [])
    const total = sumOf(Array.from({ length: 10 }, () => summary))
    expect(rareKinds(total)).toEqual(['approvals', 'cancels', 'steered', 'tool_calls'])
    expect(rareKinds({ ...total, approvals: 5, cancels: 5, steered: 5, tool_calls: 5 })).toEqual([])
    expect(countedKinds).toHaveLength(10)
  })
})
