import { request as nodeRequest } from 'node:http'
import { WorkflowChatTransport } from '@holdfast/chat-client'
import { readUIMessageStream } from 'ai'
import type { UIMessage, UIMessageChunk } from 'ai'
import { vi } from 'vitest'

/** A browser as far as a server sees it: it keeps the cookie that it is given. */
export interface Browser {
  /** Absent until the server has set one. */
  cookie(): string | undefined
  fetch(path: string, init?: RequestInit): Promise<Response>
  json(path: string): Promise<unknown>
  post(path: string, body: unknown): Promise<Response>
  /** Says something in a chat and reads the answer to its end, with the transport that pages use. */
  say(chatId: string, message: UIMessage): Promise<Answer>
}

/** An answer as it was streamed, and what a page renders of it. */
export interface Answer {
  readonly chunks: readonly UIMessageChunk[]
  readonly message: UIMessage
}

/** Opens a browser. */
export function openBrowser(origin: string, cookie?: string): Browser {
  let kept = cookie

  async function send(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (kept !== undefined) headers.set('cookie', kept)
    const response = await fetch(new URL(path, origin), { ...init, headers })
    kept = response.headers.getSetCookie()[0]?.split(';')[0] ?? kept
    return response
  }

  const transport = new WorkflowChatTransport({
    api: `${origin}/api/chat`,
    fetch: (input, init) => send(input instanceof Request ? input.url : String(input), init),
  })

  return {
    cookie: () => kept,
    fetch: send,
    json: async (path) => await (await send(path)).json(),
    post: (path, body) =>
      send(path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async say(chatId, message) {
      const stream = await transport.sendMessages({
        trigger: 'submit-message',
        chatId,
        messageId: message.role === 'assistant' ? message.id : undefined,
        messages: [message],
        abortSignal: undefined,
      })
      return await readAnswer(stream, message.role === 'assistant' ? message : undefined)
    },
  }
}

/** Reads a stream to its end. `before`: the message that it goes on with. */
async function readAnswer(
  stream: ReadableStream<UIMessageChunk>,
  before: UIMessage | undefined,
): Promise<Answer> {
  const [counted, rendered] = stream.tee()
  const chunks: UIMessageChunk[] = []
  const counting = (async () => {
    for await (const chunk of counted) chunks.push(chunk)
  })()
  let message: UIMessage | undefined
  const rendering = readUIMessageStream({
    stream: rendered,
    ...(before === undefined ? {} : { message: before }),
  })
  for await (const state of rendering) message = state
  await counting
  if (message === undefined) throw new Error('the answer was empty')
  return { chunks, message }
}

let lastMessage = 0

/** What a person says. Each has an id of its own. */
export function says(text: string): UIMessage {
  lastMessage += 1
  return { id: `m${lastMessage}`, role: 'user', parts: [{ type: 'text', text }] }
}

/** The text of a message, without what it did. */
export function textOf(message: UIMessage): string {
  return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}

/** A tool call of a message. */
export interface ToolPart {
  readonly type: string
  readonly toolCallId: string
  readonly state: string
  readonly input?: unknown
  readonly output?: unknown
  readonly errorText?: string
  readonly approval?: { readonly id: string; readonly approved?: boolean }
}

/** The tool calls of a message, in order. */
export function toolsOf(message: UIMessage): readonly ToolPart[] {
  return message.parts.flatMap((part) => ('toolCallId' in part ? [part as ToolPart] : []))
}

/** The message with a person's decision about the call that asks. */
export function decided(message: UIMessage, approved: boolean): UIMessage {
  const parts = message.parts.map((part): unknown => {
    if (!('approval' in part) || part.state !== 'approval-requested') return part
    return { ...part, state: 'approval-responded', approval: { id: part.approval.id, approved } }
  })
  return { ...message, parts: parts as UIMessage['parts'] }
}

/** Waits until a run of a definition has this status; resolves with its id. */
export async function runOf(browser: Browser, definition: string, status: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const { runs } = (await browser.json(`/api/runs?definition=${definition}`)) as {
        readonly runs: readonly { readonly run_id: string; readonly run_status: string }[]
      }
      const found = runs.find(({ run_status }) => run_status === status)
      if (found !== undefined) return found.run_id
      throw new Error(`no ${definition} is ${status}: ${JSON.stringify(runs)}`)
    },
    // Below the rate limit.
    { interval: 100, timeout: 60_000 },
  )
}

/** What a raw request is made of: its path goes out as it is. */
export interface RawRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent in one piece with its length, or chunked. */
  readonly body?: string | Buffer
  readonly isChunked?: boolean
  /** The body is said to have more bytes than are sent, and the request is never finished. */
  readonly declaredLength?: number
}

/** A whole response. */
export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly text: string
}

/** Sends a request of which nothing is put right on its way. */
export function sendRaw(origin: string, raw: RawRequest): Promise<RawResponse> {
  const { method = 'GET', path, headers = {}, body, isChunked = false, declaredLength } = raw
  const { hostname, port } = new URL(origin)
  const length = declaredLength ?? (body === undefined ? undefined : Buffer.byteLength(body))
  return new Promise((resolve, reject) => {
    const outgoing = nodeRequest(
      {
        hostname,
        port,
        method,
        path,
        agent: false,
        headers: {
          ...headers,
          ...(isChunked || length === undefined ? {} : { 'content-length': length }),
        },
      },
      (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (piece: string) => {
          text += piece
        })
        incoming.on('error', reject)
        incoming.on('end', () => {
          outgoing.destroy()
          resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text })
        })
      },
    )
    outgoing.on('error', reject)
    if (body !== undefined) outgoing.write(body)
    if (declaredLength === undefined) outgoing.end()
    else outgoing.flushHeaders()
  })
}
