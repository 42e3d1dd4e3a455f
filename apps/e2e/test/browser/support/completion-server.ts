// A model server that speaks OpenAI's chat completions, streamed.
//
// Owns:  its port.
// Asks:  the script what to answer.
// Never: answers anybody who does not show its key.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'

/** What a conversation ends with. */
export interface Turn {
  /** The newest text of a person. */
  readonly request: string
  /** What tools gave since then. */
  readonly results: readonly string[]
}

/** What the model says, and the tool it calls after that. */
export interface Completion {
  readonly text: string
  readonly call?: { readonly name: string; readonly input: object }
}

/** The running server. */
export interface CompletionServer {
  /** For `OPENAI_BASE_URL`. */
  readonly baseUrl: string
  readonly apiKey: string
  close(): Promise<void>
}

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly text?: string }[]
}

const apiKey = 'sk-browser-test'

/** Starts it on a free port. */
export async function startCompletionServer(
  script: (turn: Turn) => Completion,
): Promise<CompletionServer> {
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      if (request.headers.authorization !== `Bearer ${apiKey}`) {
        return response.writeHead(401).end('{"error":{"message":"Incorrect API key."}}')
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const { messages } = JSON.parse(body) as { readonly messages: readonly Message[] }
      for (const delta of deltasOf(script(turnOf(messages)))) {
        response.write(`data: ${JSON.stringify(delta)}\n\n`)
      }
      return response.end('data: [DONE]\n\n')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}/v1`,
    apiKey,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  request.setEncoding('utf8')
  let body = ''
  for await (const piece of request) body += String(piece)
  return body
}

function turnOf(messages: readonly Message[]): Turn {
  const newest = messages.findLastIndex(({ role }) => role === 'user')
  return {
    request: textOf(messages[newest]),
    results: messages.slice(newest).flatMap((one) => (one.role === 'tool' ? [textOf(one)] : [])),
  }
}

function textOf(message: Message | undefined): string {
  const content = message?.content ?? ''
  if (typeof content === 'string') return content
  return content.map(({ text = '' }) => text).join('')
}

function deltasOf({ text, call }: Completion): readonly object[] {
  const chunk = (delta: object, finish: string | null = null): object => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model: 'tide-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const words = text.match(/\S+\s*/g) ?? []
  const said = [
    chunk({ role: 'assistant', content: '' }),
    ...words.map((content) => chunk({ content })),
  ]
  if (call === undefined) return [...said, chunk({}, 'stop')]
  const called = {
    index: 0,
    id: 'call-1',
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.input) },
  }
  return [...said, chunk({ tool_calls: [called] }), chunk({}, 'tool_calls')]
}
