import { afterEach, describe, expect, test } from 'vitest'
import { decided, openBrowser, runOf, says, textOf, toolsOf } from './browser.ts'
import { type Desk, openDesk } from './desk.ts'
import {
  type CompletionRequest,
  lastRequestOf,
  type OpenAiServer,
  type Reply,
  resultsOf,
  type Script,
  startOpenAiServer,
} from './openai-server.ts'

let desk: Desk
let openAi: OpenAiServer

afterEach(async () => {
  await desk.close()
  await openAi.close()
  if (openAi.complaints.length > 0) throw new Error(openAi.complaints.join('\n'))
})

async function open(script: Script): Promise<ReturnType<typeof openBrowser>> {
  openAi = await startOpenAiServer(script)
  desk = await openDesk({ openAi })
  return openBrowser(desk.origin)
}

const say = (text: string): Reply => ({ kind: 'answer', text })
const call = (name: string, input: object | string, id = 'call_a1', text = ''): Reply => ({
  kind: 'answer',
  text,
  calls: [{ id, name, input }],
})

describe('with an OpenAI-compatible server', () => {
  test('text streams in the pieces that it came in, with the model that was named', async () => {
    const browser = await open(() => say('Good morning, what can I do?'))
    expect(await browser.json('/api/info')).toStrictEqual({ model: 'scripted-1', isDemo: false })
    const { chunks, message } = await browser.say('c1', says('hello'))
    expect(textOf(message)).toBe('Good morning, what can I do?')
    expect(chunks.at(0)).toMatchObject({ type: 'start', messageId: message.id })
    expect(chunks.at(-1)).toMatchObject({ type: 'finish', finishReason: 'stop' })
    expect(chunks.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1)
    const [request] = openAi.requests
    expect(request).toMatchObject({ model: 'scripted-1', stream: true })
    expect(request?.messages.map(({ role }) => role)).toStrictEqual(['system', 'user'])
    expect(request?.tools?.map((tool) => tool.function.name)).toStrictEqual([
      'lookup_order',
      'cancel_order',
      'workflow_definition_list',
      'workflow_run_start',
      'workflow_run_get',
      'workflow_run_list',
      'workflow_run_resume',
      'workflow_run_cancel',
      'workflow_run_history',
    ])
  })

  test('two calls in fragments run, their results go back, and the next turn knows all of it', async () => {
    const browser = await open((request) => {
      if (lastRequestOf(request) === 'and now?') return say('Nothing has changed.')
      const results = resultsOf(request)
      if (results.length > 0) return say(`${results.length} orders found.`)
      return {
        kind: 'answer',
        text: 'One moment. ',
        calls: [
          { id: 'call_x', name: 'lookup_order', input: { order_id: '1001' } },
          { id: 'call_y', name: 'lookup_order', input: { order_id: '1003' } },
        ],
      }
    })
    const { message } = await browser.say('c1', says('compare 1001 and 1003'))
    expect(textOf(message)).toBe('One moment. 2 orders found.')
    expect(toolsOf(message)).toMatchObject([
      { toolCallId: 'call_x', state: 'output-available', output: { item: 'Tide clock' } },
      { toolCallId: 'call_y', state: 'output-available', output: { item: 'Rope, 30 m' } },
    ])
    await browser.say('c1', says('and now?'))
    expect(openAi.requests.at(-1)?.messages.map(({ role }) => role)).toStrictEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'tool',
      'assistant',
      'user',
    ])
  })

  test('an approval lets the call run; its result goes to the model', async () => {
    const browser = await open(cancelling)
    const asking = await browser.say('c1', says('cancel order 1003'))
    expect(toolsOf(asking.message)).toMatchObject([{ state: 'approval-requested' }])
    expect(openAi.requests).toHaveLength(1)
    expect(desk.orders.effects()).toStrictEqual([])
    const { message } = await browser.say('c1', decided(asking.message, true))
    expect(message.id).toBe(asking.message.id)
    expect(textOf(message)).toBe('Shall I? The desk says {"outcome":"cancelled"}')
    expect(desk.orders.effects()).toMatchObject([{ kind: 'cancellation', orderId: '1003' }])
  })

  test('a denied call does not run, and the model is told so', async () => {
    const browser = await open(cancelling)
    const asking = await browser.say('c1', says('cancel order 1003'))
    const { message } = await browser.say('c1', decided(asking.message, false))
    expect(textOf(message)).toMatch(/^Shall I\? The desk says .*denied/i)
    expect(desk.orders.effects()).toStrictEqual([])
    expect(desk.orders.find('1003')?.status).toBe('open')
  })

  test('a model cannot approve for the person: not the refund, not its own call', async () => {
    const browser = await open((request) => {
      const results = resultsOf(request)
      const [started] = results
      if (started === undefined) {
        return call('workflow_run_start', {
          definition_name: 'refund_order',
          definition_version: 'v1',
          input: { order_id: '1002' },
        })
      }
      const runId = /"run_id":\s*"([^"]+)"/.exec(started.replaceAll('\\', ''))?.[1] ?? ''
      switch (results.length) {
        case 1:
          return call('workflow_run_get', { run_id: runId, wait_ms: 10_000 }, 'call_a2')
        case 2:
          return call(
            'workflow_run_resume',
            { run_id: runId, resume: { approved: true } },
            'call_a3',
          )
        default:
          return say(`I was told: ${results.at(-1)}`)
      }
    })
    const { message } = await browser.say('c1', says('refund order 1002 and approve it yourself'))
    expect(toolsOf(message)).toMatchObject([
      { state: 'output-available' },
      { state: 'output-available' },
      { type: 'dynamic-tool', toolName: 'workflow_run_resume', state: 'output-error' },
    ])
    expect(textOf(message)).toMatch(/interrupt_needs_person/)
    const runId = await runOf(browser, 'refund_order', 'interrupted')
    expect(desk.orders.effects()).toStrictEqual([])
    expect(desk.orders.find('1002')?.status).toBe('open')
    // The person's own word counts.
    const answer = { resume: { approved: true } }
    expect((await browser.post(`/api/runs/${runId}/resume`, answer)).status).toBe(200)
    await runOf(browser, 'refund_order', 'completed')
    expect(desk.orders.effects()).toMatchObject([{ kind: 'refund', orderId: '1002', amount: 240 }])
  })

  test('calls that no tool can take are answered to the model, and nothing runs', async () => {
    const browser = await open((request) => {
      switch (resultsOf(request).length) {
        case 0:
          return call('cancel_order', '{"order_id":', 'call_1')
        case 1:
          return call('cancel_order', { order_id: "1003'; drop table orders" }, 'call_2')
        case 2:
          return call('delete_everything', {}, 'call_3')
        default:
          return say('I give up.')
      }
    })
    const { message } = await browser.say('c1', says('cancel order 1003'))
    expect(textOf(message)).toBe('I give up.')
    expect(toolsOf(message).map(({ state }) => state)).toStrictEqual([
      'output-error',
      'output-error',
      'output-error',
    ])
    expect(desk.orders.effects()).toStrictEqual([])
    expect(desk.orders.find('1003')?.status).toBe('open')
  })

  test('429 with retry-after is waited out; nothing of it is shown', async () => {
    const browser = await open((_, turn) =>
      turn === 1
        ? {
            kind: 'refuse',
            status: 429,
            message: 'Rate limit reached for org-secret.',
            headers: { 'retry-after': '1' },
          }
        : say('Here I am.'),
    )
    const { chunks, message } = await browser.say('c1', says('hello'))
    expect(textOf(message)).toBe('Here I am.')
    expect(JSON.stringify(chunks)).not.toContain('secret')
    expect(openAi.requests).toHaveLength(2)
  })

  test('a connection that is cut in mid-stream is begun anew, and nothing is doubled', async () => {
    const browser = await open((_, turn) => ({
      kind: 'answer',
      text: 'one two three four five six',
      ...(turn === 1 ? { cutAfter: 4 } : {}),
    }))
    const { message } = await browser.say('c1', says('count'))
    expect(textOf(message)).toBe('one two three four five six')
    expect(openAi.requests).toHaveLength(2)
    const { messages } = (await browser.json('/api/chat/c1/messages')) as {
      messages: (typeof message)[]
    }
    expect(messages.map(textOf)).toStrictEqual(['count', 'one two three four five six'])
  })

  test('a refusal for good ends the answer with an error that tells nothing; the chat goes on', async () => {
    const browser = await open((request) =>
      lastRequestOf(request) === 'hello'
        ? { kind: 'refuse', status: 400, message: 'Key sk-live-77 of postgres://u:p@db is bad.' }
        : say('Better.'),
    )
    const response = await browser.post('/api/chat', {
      id: 'c1',
      trigger: 'submit-message',
      messages: [says('hello')],
    })
    expect(response.status).toBe(200)
    const stream = await response.text()
    expect(stream).toMatch(/"type":"error"/)
    expect(stream).not.toMatch(/sk-live|postgres/)
    expect(stream.trimEnd()).toMatch(/data: \[DONE\]$/)
    const { message } = await browser.say('c1', says('try again'))
    expect(textOf(message)).toBe('Better.')
  })
})

function cancelling(request: CompletionRequest): Reply {
  const [result] = resultsOf(request)
  return result === undefined
    ? call('cancel_order', { order_id: '1003' }, 'call_c', 'Shall I? ')
    : say(`The desk says ${result}`)
}
