// A chat handler over a store in memory and runs that do what a test says.
import { createSseDecoder, type UiChunk } from '@holdfast/chat-protocol'
import { type JsonValue, sessionIdFor, type Store } from '@holdfast/core'
import { createManualSystem, createRecordingLog, type ManualSystem } from '@holdfast/testing'
import { createMemoryStore } from '@holdfast/store-memory'
import {
  type ChatHandler,
  type ChatHandlerOptions,
  createChatHandler,
  type ChatMessages,
} from '../src/index.ts'
import { createScriptedRuns, type ScriptedRuns } from './scripted-runs.ts'

export const ann = sessionIdFor('ann')
export const origin = 'http://chat.test'

export interface World {
  readonly store: Store
  readonly runs: ScriptedRuns
  readonly system: ManualSystem
  readonly handler: ChatHandler
  readonly log: ReturnType<typeof createRecordingLog>
  /** Sends a request as a user (`ann` unless said otherwise). */
  fetch(path: string, init?: RequestInit & { readonly as?: string }): Promise<Response>
  post(body: unknown, as?: string): Promise<Response>
  messages(chatId: string): Promise<ChatMessages>
}

export function createWorld(options: Partial<ChatHandlerOptions> = {}): World {
  const system = createManualSystem()
  const log = createRecordingLog()
  const store = createMemoryStore({ system })
  const runs = createScriptedRuns(store, system)
  const handler = createChatHandler({
    authorize(request) {
      const user = request.headers.get('x-user')
      return user === null ? undefined : { sessionId: sessionIdFor(user) }
    },
    store,
    supervisors: runs,
    agent: { name: 'assistant', version: 'v1' },
    system,
    log,
    ...options,
    limits: { requestsPerSecond: 1_000_000, ...options.limits },
  })

  async function send(
    path: string,
    { as = 'ann', ...init }: RequestInit & { readonly as?: string } = {},
  ): Promise<Response> {
    const headers = new Headers(init.headers)
    if (as !== '') headers.set('x-user', as)
    const response = await handler.handle(new Request(`${origin}${path}`, { ...init, headers }))
    return response ?? new Response('outside', { status: 599 })
  }

  return {
    store,
    runs,
    system,
    handler,
    log,
    fetch: send,
    post: (body, as) =>
      send('/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(as === undefined ? {} : { as }),
      }),
    async messages(chatId) {
      const response = await send(`/api/chat/${chatId}/messages`)
      return (await response.json()) as ChatMessages
    },
  }
}

export function user(id: string, text: string): { id: string; role: 'user'; parts: JsonValue[] } {
  return { id, role: 'user', parts: [{ type: 'text', text }] }
}

/** What `useChat` posts for a new message. */
export function submit(chatId: string, ...messages: readonly unknown[]): object {
  return { id: chatId, messages, trigger: 'submit-message' }
}

export function text(id: string, ...deltas: readonly string[]): JsonValue[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta) => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ]
}

export interface ReadFrame {
  readonly index: number
  readonly chunk: UiChunk
}

/** What a response said until it ended. */
export interface ReadResponse {
  readonly frames: readonly ReadFrame[]
  readonly chunks: readonly UiChunk[]
  readonly isDone: boolean
  readonly heartbeats: number
}

/** Reads a response to its end. */
export async function readAll(response: Response): Promise<ReadResponse> {
  const decoder = createSseDecoder()
  return parsed([...decoder.push(await response.text()), ...decoder.end()])
}

/** Reads a response piece by piece. */
export function readerOf(response: Response): {
  /** Reads until there are so many chunks, or the end. */
  until(count: number): Promise<ReadResponse>
  cancel(): Promise<void>
} {
  if (response.body === null) throw new Error('The response has no body.')
  const reader = response.body.getReader()
  const decoder = createSseDecoder()
  const items: ReturnType<typeof decoder.end>[number][] = []
  return {
    async until(count) {
      for (;;) {
        const read = parsed(items)
        if (read.chunks.length >= count) return read
        const { done, value } = await reader.read()
        if (done) return parsed([...items, ...decoder.end()])
        items.push(...decoder.push(value))
      }
    },
    cancel: () => reader.cancel(),
  }
}

function parsed(items: ReturnType<ReturnType<typeof createSseDecoder>['end']>): ReadResponse {
  const events = items.filter((item) => item.kind === 'event')
  const frames = events
    .filter(({ data }) => data !== '[DONE]')
    .map(({ id, data }) => ({ index: Number(id), chunk: JSON.parse(data) as UiChunk }))
  return {
    frames,
    chunks: frames.map(({ chunk }) => chunk),
    isDone: events.some(({ data }) => data === '[DONE]'),
    heartbeats: items.filter((item) => item.kind === 'comment' && item.text !== 'stream-open')
      .length,
  }
}

export function streamIdOfResponse(response: Response): string {
  return response.headers.get('x-workflow-run-id') ?? ''
}

export function runIdOfResponse(response: Response): string {
  return response.headers.get('x-holdfast-run-id') ?? ''
}

export async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  const body = (await response.json()) as { error: { code: string; message: string } }
  return body.error
}
