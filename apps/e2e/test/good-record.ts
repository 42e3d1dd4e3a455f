import type { UiChunk } from '@holdfast/chat-protocol'
import type { AnswerEvidence, CrashRecord, Reading } from '../crash/evidence.ts'

export const runId = '0190a0a0-0000-7000-8000-000000000001'
export const refundId = '0190a0a0-0000-7000-8000-000000000002'

export const chunks: readonly UiChunk[] = [
  { type: 'start', messageId: runId },
  { type: 'start-step' },
  { type: 'text-start', id: 'text' },
  { type: 'text-delta', id: 'text', delta: '1 ' },
  { type: 'text-delta', id: 'text', delta: '2' },
  { type: 'text-end', id: 'text' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'stop' },
]

export const reading: Reading = {
  reader: 'the first reader',
  asked: 0,
  from: 0,
  next: chunks.length,
  chunks,
  end: 'finished',
}

export const answer: AnswerEvidence = {
  runId,
  chatId: 'chat',
  scenario: 'text',
  text: '1 2',
  streams: [
    {
      streamId: runId,
      whole: { indexes: chunks.map((_, index) => index), chunks },
      readings: [reading],
    },
  ],
  messageStreams: [],
  sdk: { text: '1 2' },
}

export const output = { order_id: '500001', refunded: true, amount: 40 }

/** A small crash run that stands. */
export const goodRecord: CrashRecord = {
  kills: 2,
  killsInFlight: 1,
  seconds: 1.23,
  reconnects: 1,
  chats: [
    {
      chatId: 'chat',
      scenario: 'text',
      messageIds: ['question'],
      shown: [
        { id: 'question', role: 'user', text: 'count to 2', steered: [] },
        { id: runId, role: 'assistant', text: '1 2', steered: [] },
      ],
    },
  ],
  runs: [
    {
      runId,
      scenario: 'text',
      rightEnds: [{ status: 'completed' }],
      seen: { status: 'completed', output: { text: '1 2' } },
    },
    {
      runId: refundId,
      scenario: 'refund',
      rightEnds: [{ status: 'completed', output }],
      seen: { status: 'completed', output },
    },
  ],
  strayRuns: [],
  answers: [answer],
  inbox: [
    { scenario: 'refund', kind: 'resume', runId: refundId, output },
    { scenario: 'text', kind: 'message', chatId: 'chat', messageId: 'question', reply: '1 2' },
  ],
  expectedEffects: [
    { scenario: 'refund', orderId: '500001', kind: 'refund', amount: 40, times: 1 },
    { scenario: 'refund', orderId: '500002', kind: 'refund', amount: 240, times: 0 },
  ],
  effects: [{ kind: 'refund', orderId: '500001', amount: 40 }],
  interrupts: 1,
  failures: [],
}
