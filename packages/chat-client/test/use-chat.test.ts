import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  type ChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import { frameFromChunk, type UiChunk } from '@holdfast/chat-protocol'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { normalizeUIMessageStreamParts, WorkflowChatTransport } from '../src/index.ts'
import {
  answered,
  finished,
  refused,
  started,
  streamed,
  textMessage,
  unreachable,
} from './scripted-fetch.ts'
import { setUp } from './setup.ts'

class State implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined
  messages: UIMessage[]

  constructor(messages: readonly UIMessage[] = []) {
    this.messages = [...messages]
  }

  readonly pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message]
  }
  readonly popMessage = (): void => {
    this.messages = this.messages.slice(0, -1)
  }
  readonly replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message))
  }
  readonly snapshot = <T>(value: T): T => structuredClone(value)
}

class Chat extends AbstractChat<UIMessage> {}

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

const call = { type: 'tool-input-available', toolCallId: 'c', toolName: 'dig', input: {} } as const
const asked: UiChunk[] = [
  started,
  { type: 'start-step' },
  call,
  { type: 'tool-approval-request', toolCallId: 'c', approvalId: 'a' },
  { type: 'finish-step' },
  { type: 'finish', finishReason: 'tool-calls' },
]

describe("AI SDK's chat over the transport", () => {
  test('C5, C7: shows a message whole that came over four connections', async () => {
    const whole = textMessage('low ', 'tide ', 'at ', 'noon')
    const { transport } = setUp([
      answered('run-1', whole.slice(0, 3)),
      unreachable,
      streamed(whole.slice(3, 4), { ending: 'break' }),
      refused(503),
      streamed(whole.slice(4)),
    ])
    const chat = new Chat({ id: 'chat', state: new State(), transport })
    await chat.sendMessage({ text: 'When?' })
    expect([chat.status, textOf(chat.lastMessage)]).toEqual(['ready', 'low tide at noon'])
  })

  test.each([
    [true, { type: 'tool-output-available', toolCallId: 'c', output: 'sand' }],
    [false, { type: 'tool-output-denied', toolCallId: 'c' }],
  ] as const)(
    'C12, C14: after an answer of %s the messages are sent by themselves, and the turn goes on',
    async (approved, outcome) => {
      const { transport, server } = setUp([
        answered('run-1', asked),
        answered('run-1.2', [
          started,
          outcome,
          { type: 'start-step' },
          { type: 'text-start', id: '1' },
          { type: 'text-delta', id: '1', delta: 'done' },
          { type: 'text-end', id: '1' },
          { type: 'finish-step' },
          finished,
        ]),
      ])
      const chat = new Chat({
        id: 'chat',
        state: new State(),
        transport,
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      })
      await chat.sendMessage({ text: 'Dig!' })
      expect(chat.status).toBe('ready')
      await chat.addToolApprovalResponse({ id: 'a', approved })
      await expect.poll(() => chat.status === 'ready' && textOf(chat.lastMessage)).toBe('done')

      const body = server.requests[1]?.body as { messages: UIMessage[] }
      expect(body).toMatchObject({ id: 'chat', trigger: 'submit-message', messageId: 'm' })
      expect(body.messages.at(-1)).toMatchObject({
        role: 'assistant',
        parts: [{}, { state: 'approval-responded', approval: { id: 'a', approved } }],
      })
      expect(chat.messages).toHaveLength(2)
      expect(chat.lastMessage?.parts[1]).toMatchObject({
        state: approved ? 'output-available' : 'output-denied',
      })
    },
  )

  test('C8, C11: resuming on page load with nothing to resume leaves the page ready', async () => {
    const { transport } = setUp([refused(204, null)])
    const chat = new Chat({ id: 'chat', state: new State(), transport })
    await chat.resumeStream()
    expect([chat.status, chat.error, chat.messages]).toEqual(['ready', undefined, []])
  })

  test('a page that comes back shows the message once, though it had a part of it', async () => {
    const whole = textMessage('low ', 'tide')
    const { transport } = setUp([answered('run-1', whole)])
    const half: UIMessage = { id: 'm', role: 'assistant', parts: [{ type: 'text', text: 'low ' }] }
    const chat = new Chat({ id: 'chat', state: new State([half]), transport })
    await chat.resumeStream()
    expect(chat.messages.map(textOf)).toEqual(['low tide'])
  })

  test('C2: a page that reads a tail shows the parts of it', async () => {
    const tail: UiChunk[] = [call, { type: 'tool-output-available', toolCallId: 'c', output: 1 }]
    const { transport } = setUp(
      [
        answered(
          'run-1',
          [...tail, finished].map((chunk, at) => frameFromChunk(chunk, { index: 4 + at })),
          { headers: { 'x-holdfast-start-index': '4' } },
        ),
      ],
      { initialStartIndex: -1 },
    )
    const chat = new Chat({ id: 'chat', state: new State(), transport })
    await chat.resumeStream()
    expect(chat.status).toBe('ready')
    expect(chat.lastMessage?.parts).toMatchObject([{ state: 'output-available', output: 1 }])
  })

  test("C4: the page's own stop disconnects, shows no error, and the message can be resumed", async () => {
    const whole = textMessage('low ', 'tide')
    const { transport, server } = setUp([
      answered('run-1', whole.slice(0, 3), { ending: 'stay-open' }),
      answered('run-1', whole),
    ])
    const chat = new Chat({ id: 'chat', state: new State(), transport })
    const sending = chat.sendMessage({ text: 'When?' })
    await expect.poll(() => textOf(chat.lastMessage)).toBe('low ')
    await chat.stop()
    await sending
    expect([chat.status, chat.error, server.requests.length]).toEqual(['ready', undefined, 1])
    await chat.resumeStream()
    expect([chat.status, textOf(chat.lastMessage)]).toEqual(['ready', 'low tide'])
  })

  test('a lost connection is a disconnect to the chat', async () => {
    const { transport } = setUp([
      answered('run-1', [started]),
      unreachable,
      unreachable,
      unreachable,
    ])
    const ends: boolean[] = []
    const chat = new Chat({
      id: 'chat',
      state: new State(),
      transport,
      onFinish: ({ isDisconnect }) => {
        ends.push(isDisconnect)
      },
    })
    await chat.sendMessage({ text: 'When?' })
    expect([chat.status, ends]).toEqual(['error', [true]])
  })
})

describe('types', () => {
  test("the transport is AI SDK's, for any message type", () => {
    type Own = UIMessage<{ place: string }, { tide: number }>
    expectTypeOf<WorkflowChatTransport>().toExtend<ChatTransport<UIMessage>>()
    expectTypeOf<WorkflowChatTransport<Own>>().toExtend<ChatTransport<Own>>()
    expectTypeOf(new WorkflowChatTransport<Own>()).toExtend<ChatTransport<Own>>()
  })

  test("the framing repair gives back AI SDK's chunks", () => {
    expectTypeOf(normalizeUIMessageStreamParts<UIMessageChunk>).returns.toEqualTypeOf<
      AsyncGenerator<UIMessageChunk>
    >()
  })

  test("AI SDK's chunks are the protocol's, but for what is read-only", () => {
    expectTypeOf<UIMessageChunk['type']>().toExtend<UiChunk['type']>()
    expectTypeOf<UiChunk['type']>().toExtend<UIMessageChunk['type']>()
  })
})
