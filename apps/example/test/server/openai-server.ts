// A server that speaks OpenAI's chat completions, with answers from a script.
//
// Owns:  its port and the requests that it was sent.
// Asks:  the script for every reply.
// Never: answers a conversation that the real service would refuse: see `complaintAbout`.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A message of a conversation, as it is sent to the service. */
export interface CompletionMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content?: unknown
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
}

/** What a request asks for. */
export interface CompletionRequest {
  readonly model: string
  readonly stream?: boolean
  readonly messages: readonly CompletionMessage[]
  readonly tools?: readonly { readonly function: { readonly name: string } }[]
}

/** A call that the model makes. */
export interface ScriptedCall {
  readonly id: string
  readonly name: string
  /** Text as it is, so that a script can send what is no JSON. */
  readonly input: object | string
}

/** What the service does with a request. */
export type Reply =
  | {
      readonly kind: 'answer'
      readonly text?: string
      readonly calls?: readonly ScriptedCall[]
      /** The connection breaks after so many events. */
      readonly cutAfter?: number
    }
  | {
      readonly kind: 'refuse'
      readonly status: number
      readonly message: string
      readonly headers?: Readonly<Record<string, string>>
    }

/** Answers a request; `turn` counts them from 1. */
export type Script = (request: CompletionRequest, turn: number) => Reply

/** The running service. */
export interface OpenAiServer {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string
  readonly apiKey: string
  /** Every request that was let in, oldest first. */
  readonly requests: readonly CompletionRequest[]
  /** What it found wrong with requests that it refused by itself. */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

const apiKey = 'sk-test-4b1d'

/** Starts the service on a free port. */
export async function startOpenAiServer(script: Script): Promise<OpenAiServer> {
  const requests: CompletionRequest[] = []
  const complaints: string[] = []

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const pieces: Buffer[] = []
    for await (const piece of incoming) pieces.push(piece as Buffer)
    if (incoming.headers.authorization !== `Bearer ${apiKey}`) {
      return refuse(outgoing, 401, 'Incorrect API key provided.')
    }
    if (incoming.method !== 'POST' || incoming.url !== '/v1/chat/completions') {
      return refuse(outgoing, 404, 'Invalid URL.')
    }
    const request = JSON.parse(Buffer.concat(pieces).toString('utf8')) as CompletionRequest
    const complaint = complaintAbout(request)
    if (complaint !== undefined) {
      complaints.push(complaint)
      return refuse(outgoing, 400, complaint)
    }
    requests.push(request)
    const reply = script(request, requests.length)
    if (reply.kind === 'refuse') {
      return refuse(outgoing, reply.status, reply.message, reply.headers)
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = eventsOf(request, reply)
    for (const event of events.slice(0, reply.cutAfter)) {
      outgoing.write(`data: ${JSON.stringify(event)}\n\n`)
    }
    if (reply.cutAfter === undefined) return void outgoing.end('data: [DONE]\n\n')
    // What was written has to leave before the connection breaks.
    outgoing.write(': cut\n\n', () => outgoing.socket?.resetAndDestroy())
  }

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => {
      complaints.push(String(error))
      outgoing.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    apiKey,
    requests,
    complaints,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** The text of the newest message of a person. */
export function lastRequestOf({ messages }: CompletionRequest): string {
  return textOf(messages.findLast(({ role }) => role === 'user')?.content)
}

/** The results of the calls that were made since the newest message of a person, oldest first. */
export function resultsOf({ messages }: CompletionRequest): readonly string[] {
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  return messages
    .slice(newest)
    .flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : []))
}

/**
 * What the service would refuse a conversation for: a call that has no result, a result of no call.
 * Everybody who keeps a conversation and drops a piece of it is told so by a real one, too.
 */
function complaintAbout({ model, stream, messages }: CompletionRequest): string | undefined {
  if (model === '') return 'you must provide a model parameter'
  if (stream !== true) return 'only streaming is scripted'
  let open = new Set<string>()
  for (const { role, tool_calls: calls = [], tool_call_id: id } of messages) {
    if (role === 'tool') {
      if (id === undefined || !open.delete(id)) return `tool_call_id ${id} answers no tool call`
      continue
    }
    if (open.size > 0) return `tool_call_ids without a result: ${[...open].join(', ')}`
    open = new Set(calls.map((call) => call.id))
  }
  return open.size === 0 ? undefined : `tool_call_ids without a result: ${[...open].join(', ')}`
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly { readonly text?: unknown }[])
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

function eventsOf(
  { model }: CompletionRequest,
  { text = '', calls = [] }: Extract<Reply, { kind: 'answer' }>,
): readonly object[] {
  const event = (delta: object, finish: string | null = null): object => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return [
    event({ role: 'assistant', content: '' }),
    ...(text.match(/\S+\s*/g) ?? []).map((word) => event({ content: word })),
    ...calls.flatMap((call, index) => callEvents(call, index).map((delta) => event(delta))),
    event({}, calls.length === 0 ? 'stop' : 'tool_calls'),
    {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_767_225_600,
      model,
      choices: [],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    },
  ]
}

/** A call comes in fragments: first its name, then its arguments seven characters at a time. */
function callEvents({ id, name, input }: ScriptedCall, index: number): readonly object[] {
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return [
    { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
    ...(text.match(/[\s\S]{1,7}/g) ?? []).map((fragment) => ({
      tool_calls: [{ index, function: { arguments: fragment } }],
    })),
  ]
}

function refuse(
  outgoing: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify({ error: { message, type: 'invalid_request_error' } }))
}
