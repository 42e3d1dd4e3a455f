import { describe, expect, test } from 'vitest'
import type { LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { demoModel } from '../server/demo-model.ts'
import { decideReply } from '../server/demo-rules.ts'

const ask = (text: string): LanguageModelV4Prompt => [
  { role: 'user', content: [{ type: 'text', text }] },
]

const answered = (
  text: string,
  toolName: string,
  output: { readonly type: 'text'; readonly value: string } | { readonly type: 'execution-denied' },
): LanguageModelV4Prompt => [
  ...ask(text),
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId: 'call_1', toolName, input: {} }],
  },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'call_1', toolName, output }] },
]

async function partsOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
): Promise<readonly LanguageModelV4StreamPart[]> {
  const parts: LanguageModelV4StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

describe('the offline demo model', () => {
  test.each([
    ['refund order 1002', 'workflow_run_start', { order_id: '1002' }],
    ['write a report on kelp', 'workflow_run_start', { topic: 'kelp' }],
    ['count from 1', 'workflow_run_start', { count: 1 }],
  ])('starts a workflow for %j', (text, name, input) => {
    expect(decideReply(ask(text)).calls).toMatchObject([{ name, input: { input } }])
  })

  test.each([
    ['cancel order 1003', 'cancel_order'],
    ['look up order 1001', 'lookup_order'],
    ['what is running?', 'workflow_run_list'],
    ['stop the report', 'workflow_run_list'],
    ['add 5 to the counter', 'workflow_run_list'],
  ])('calls a tool for %j', (text, name) => {
    expect(decideReply(ask(text)).calls).toMatchObject([{ name }])
  })

  test('says that it is no language model when it does not understand', () => {
    const reply = decideReply(ask('write me a sonnet'))
    expect(reply.calls).toEqual([])
    expect(reply.text).toContain('no language model')
  })

  test('tells of the run that a start gave', () => {
    const value = JSON.stringify({ run_id: 'the-run' })
    const reply = decideReply(
      answered('refund order 1002', 'workflow_run_start', { type: 'text', value }),
    )
    expect(reply.calls).toEqual([])
    expect(reply.text).toContain('the-run')
  })

  test('says so when a person denied', () => {
    const reply = decideReply(
      answered('cancel order 1003', 'cancel_order', { type: 'execution-denied' }),
    )
    expect(reply.text).toBe('Order 1003 was not cancelled: it was denied.')
  })

  test('acts on the newest active run of a list, and calls are numbered over the conversation', () => {
    const runs = [
      { run_id: 'newest', definition_name: 'refund_order', run_status: 'running' },
      { run_id: 'new', definition_name: 'research_report', run_status: 'running' },
      { run_id: 'old', definition_name: 'research_report', run_status: 'interrupted' },
    ]
    const reply = decideReply(
      answered('stop the report', 'workflow_run_list', {
        type: 'text',
        value: JSON.stringify({ runs }),
      }),
    )
    expect(reply.calls).toMatchObject([
      { id: 'call_2', name: 'workflow_run_cancel', input: { run_id: 'new' } },
    ])
  })

  test('streams word by word what it would generate at once', async () => {
    const model = demoModel({ wordDelayMs: 0 })
    const prompt = ask('count to 20')
    const { stream } = await model.doStream({ prompt })
    const parts = await partsOf(stream)
    const deltas = parts.flatMap((part) => (part.type === 'text-delta' ? [part.delta] : []))
    const { content } = await model.doGenerate({ prompt })
    expect(deltas).toHaveLength(20)
    expect(content).toEqual([{ type: 'text', text: deltas.join('') }])
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'stop' } })
  })

  test('stops at once when its signal fires, with the signal as the error', async () => {
    const controller = new AbortController()
    const model = demoModel({ wordDelayMs: 3_600_000 })
    const { stream } = await model.doStream({
      prompt: ask('count to 20'),
      abortSignal: controller.signal,
    })
    const read = partsOf(stream)
    controller.abort(new Error('enough'))
    await expect(read).rejects.toThrow('enough')
  })
})
