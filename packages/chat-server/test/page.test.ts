// AI SDK's own chat over the real transport, over node:http, over the engine.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WorkflowChatTransport, type WorkflowChatTransportOptions } from '@holdfast/chat-client'
import {
  AbstractChat,
  type ChatState,
  type ChatStatus,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  type UIMessage,
} from 'ai'
import { afterEach, describe, expect, test } from 'vitest'
import type { ChatMessages } from '../src/index.ts'
import { toNodeListener } from '../src/node.ts'
import { type EngineWorld, startProcess } from './engine-world.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

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

interface Served {
  readonly world: EngineWorld
  /** Requests so far: method and path. */
  readonly lines: readonly string[]
  page(options?: PageOptions): { chat: Chat; transport: WorkflowChatTransport }
  contents(): Promise<ChatMessages>
}

interface PageOptions {
  readonly messages?: readonly UIMessage[]
  readonly transport?: WorkflowChatTransportOptions<UIMessage>
}

async function serve(): Promise<Served> {
  const world = startProcess()
  const lines: string[] = []
  const server = createServer(
    toNodeListener(async (request) => {
      const { pathname, search } = new URL(request.url)
      lines.push(`${request.method} ${pathname}${search}`)
      return await world.handle(request)
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/chat`
  closing.push(async () => {
    world.handler.drain()
    await world.engine.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return {
    world,
    lines,
    page({ messages = [], transport: options = {} } = {}) {
      const transport = new WorkflowChatTransport({
        api,
        backoff: { initialDelayMs: 1, maxDelayMs: 5 },
        ...options,
      })
      const chat = new Chat({
        id: 'c1',
        state: new State(messages),
        transport,
        sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
      })
      return { chat, transport }
    },
    contents: async () => (await (await fetch(`${api}/c1/messages`)).json()) as ChatMessages,
  }
}

/** A fetch whose responses to reads break off after so many bytes, three times. */
function cutting(bytes: number): typeof fetch {
  let cuts = 0
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || response.body === null || cuts >= 3) return response
    cuts += 1
    let left = bytes
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        controller.enqueue(piece.slice(0, Math.max(0, left)))
        left -= piece.byteLength
        if (left <= 0) controller.terminate()
      },
    })
    return new Response(response.body.pipeThrough(cut), response)
  }
}

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join(' ')
}

function roles(chat: Chat): readonly string[] {
  return chat.messages.map(({ role }) => role)
}

describe('a page', () => {
  for (const bytes of [1, 60, 100, 137, 251, 400]) {
    test(`C1, C5: shows an answer whole that was cut three times after ${bytes} bytes`, async () => {
      const { page, lines, contents } = await serve()
      const { chat } = page({ transport: { fetch: cutting(bytes), maxConsecutiveErrors: 5 } })
      await chat.sendMessage({ text: 'say low,say tide' })
      expect([chat.status, textOf(chat.lastMessage).trim()]).toEqual(['ready', 'low tide'])
      expect(lines.filter((line) => line.startsWith('POST'))).toHaveLength(1)
      const stored = await contents()
      expect(JSON.parse(JSON.stringify(chat.lastMessage))).toEqual(stored.messages.at(-1))
    })
  }

  test('C4: stops with one cancel and does not come back', async () => {
    const { world, page, lines } = await serve()
    const { chat, transport } = page()
    const sending = chat.sendMessage({ text: 'say half,wait never' })
    await world.gates.reached('never')
    await transport.stop({ chatId: 'c1' })
    await sending
    expect(chat.status).toBe('ready')
    expect(textOf(chat.lastMessage)).toContain('half')
    expect(lines).toEqual(['POST /api/chat', 'POST /api/chat/c1/cancel'])
  })

  test('C8: finds nothing active once the turn has ended', async () => {
    const { page } = await serve()
    const { chat } = page()
    await chat.sendMessage({ text: 'say hi' })
    await chat.resumeStream()
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
  })

  for (const approved of [true, false]) {
    test(`C12, C14: goes on by itself once all questions are answered (${approved})`, async () => {
      const { page, contents } = await serve()
      const { chat } = page()
      await chat.sendMessage({ text: 'say so,ask 2,say done' })
      expect(chat.status).toBe('ready')
      const ids = approvalIds(chat)
      expect(ids).toHaveLength(2)
      await chat.addToolApprovalResponse({ id: ids[0] ?? '', approved: true })
      await chat.addToolApprovalResponse({ id: ids[1] ?? '', approved })
      await expect.poll(() => textOf(chat.lastMessage)).toContain('done')
      await expect.poll(() => chat.status).toBe('ready')
      expect(roles(chat)).toEqual(['user', 'assistant'])
      expect((await contents()).status).toBe('completed')
    })
  }

  test('that is opened in mid-answer shows it once', async () => {
    const { world, page, contents } = await serve()
    const { chat } = page()
    const sending = chat.sendMessage({ text: 'say one,wait gate,say two' })
    await world.gates.reached('gate')
    const { messages } = await contents()
    const second = page({ messages: messages as unknown as UIMessage[] })
    const resuming = second.chat.resumeStream()
    world.gates.open('gate')
    await Promise.all([sending, resuming])
    for (const { messages: shown } of [chat, second.chat]) {
      expect(shown.map(textOf).join('|').trim()).toBe('say one,wait gate,say two|one gate two')
    }
  })

  test('that is opened after an answered question has what came before it, and the rest, once', async () => {
    const { world, page, contents } = await serve()
    const first = page().chat
    await first.sendMessage({ text: 'say one,ask 1,wait gate,say two' })
    void first.addToolApprovalResponse({ id: approvalIds(first)[0] ?? '', approved: true })
    await world.gates.reached('gate')
    const { messages } = await contents()
    const second = page({ messages: messages as unknown as UIMessage[] }).chat
    const resuming = second.resumeStream()
    world.gates.open('gate')
    await resuming
    expect(textOf(second.lastMessage).split(' ').filter(Boolean)).toEqual([
      'one',
      '1',
      'gate',
      'two',
    ])
    expect(roles(second)).toEqual(['user', 'assistant'])
  })

  test('A24: says more while the answer is written, before a question and after one', async () => {
    const { world, page, contents } = await serve()
    const { chat } = page()
    const sending = chat.sendMessage({ text: 'say one,wait g1,ask 1,wait g2,say two' })
    await world.gates.reached('g1')
    const early = page({ messages: chat.messages }).chat
    const telling = early.sendMessage({ text: 'say three' })
    await expect.poll(async () => (await contents()).waiting).toHaveLength(1)
    world.gates.open('g1')
    await Promise.all([sending, telling])
    expect(early.status).toBe('ready')
    await chat.addToolApprovalResponse({ id: approvalIds(chat)[0] ?? '', approved: true })
    await world.gates.reached('g2')
    // A page whose last message is its own: the run's second stream alone would not do.
    const late = page({ messages: (await contents()).messages as unknown as UIMessage[] }).chat
    const more = late.sendMessage({ text: 'say four' })
    await expect.poll(async () => (await contents()).waiting).toHaveLength(1)
    world.gates.open('g2')
    await more
    expect([late.status, late.error]).toEqual(['ready', undefined])
    const answer = late.messages.find(({ role }) => role === 'assistant')
    expect(textOf(answer).split(' ').filter(Boolean)).toEqual([
      'one',
      'g1',
      '1',
      'g2',
      'two',
      'three',
      'four',
    ])
  })

  test('writes something else instead of a decision', async () => {
    const { page, contents } = await serve()
    const { chat } = page()
    await chat.sendMessage({ text: 'say one,ask 1,say two' })
    await chat.sendMessage({ text: 'say three' })
    expect([chat.status, chat.error]).toEqual(['ready', undefined])
    expect(roles(chat)).toEqual(['user', 'assistant', 'user'])
    const { messages } = await contents()
    expect(messages).toHaveLength(2)
    expect(JSON.stringify(messages)).toContain('steering-message')
  })

  test('edits and makes anew', async () => {
    const { page, contents } = await serve()
    const { chat } = page()
    await chat.sendMessage({ text: 'say one' })
    await chat.sendMessage({ text: 'say two' })
    await chat.regenerate()
    await chat.sendMessage({ text: 'say uno', messageId: chat.messages[0]?.id ?? '' })
    expect(chat.messages.map(textOf)).toEqual(['say uno', 'uno'])
    const { messages } = await contents()
    expect(messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id))
  })
})

function approvalIds(chat: Chat): readonly string[] {
  return (chat.lastMessage?.parts ?? []).flatMap((part) => {
    const approval = 'approval' in part ? part.approval : undefined
    return approval === undefined ? [] : [approval.id]
  })
}
