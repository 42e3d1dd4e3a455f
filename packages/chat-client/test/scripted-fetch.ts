import { frameFromChunk, type UiChunk } from '@holdfast/chat-protocol'

/** A request as the server sees it. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly credentials: RequestCredentials | undefined
  readonly signal: AbortSignal
}

/** Answers one request; a throw is a network error. */
export type Reply = (request: SeenRequest) => Response | Promise<Response>

/** A `fetch` that answers with one reply after the other, and throws when there is none left. */
export function scriptedFetch(...replies: readonly Reply[]) {
  const requests: SeenRequest[] = []
  const scripted: typeof fetch = async (input, init = {}) => {
    const request: SeenRequest = {
      method: init.method ?? 'GET',
      url: input instanceof Request ? input.url : input.toString(),
      headers: Object.fromEntries(new Headers(init.headers)),
      body: typeof init.body === 'string' ? JSON.parse(init.body) : undefined,
      credentials: init.credentials,
      signal: init.signal ?? new AbortController().signal,
    }
    requests.push(request)
    const reply = replies[requests.length - 1]
    if (reply === undefined)
      throw new Error(`No reply for request ${requests.length}: ${request.url}`)
    return await reply(request)
  }
  return {
    fetch: scripted,
    requests,
    get lines() {
      return requests.map(({ method, url }) => `${method} ${url}`)
    },
  }
}

/** How a scripted stream behaves besides its text. */
export interface StreamOptions {
  readonly headers?: Readonly<Record<string, string>>
  /** What happens after the text. Absent: a clean end. */
  readonly ending?: 'break' | 'stay-open'
  /** Told once, when the reader lets go. */
  readonly onCancel?: () => void
}

/** A streamed answer that says a text. Strings are said as they are, chunks as frames. */
export function streamed(
  said: readonly (string | UiChunk)[],
  { headers = {}, ending, onCancel }: StreamOptions = {},
): Reply {
  return ({ signal }) => {
    let isLetGo = false
    const letGo = (): void => {
      if (!isLetGo) onCancel?.()
      isLetGo = true
    }
    const pieces = said.map((one) => (typeof one === 'string' ? one : frameFromChunk(one)))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        signal.addEventListener('abort', () => {
          letGo()
          controller.error(signal.reason)
        })
      },
      pull(controller) {
        const piece = pieces.shift()
        if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece))
        else if (ending === 'break') controller.error(new TypeError('terminated'))
        else if (ending !== 'stay-open') controller.close()
      },
      cancel: letGo,
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream', ...headers } })
  }
}

/** An answer to a POST. */
export function answered(
  runId: string,
  said: readonly (string | UiChunk)[],
  options: StreamOptions = {},
): Reply {
  return streamed(said, { ...options, headers: { 'x-workflow-run-id': runId, ...options.headers } })
}

/** An answer of a status, with a body. */
export function refused(
  status: number,
  body: string | null = 'no',
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return () => new Response(body, { status, headers })
}

/** A network error. */
export const unreachable: Reply = () => {
  throw new TypeError('fetch failed')
}

/** Everything that a stream says. */
export async function readAll<T>(stream: ReadableStream<T> | null): Promise<T[]> {
  const values: T[] = []
  if (stream === null) return values
  for await (const value of stream) values.push(value)
  return values
}

export const started = { type: 'start', messageId: 'm' } as const
export const finished = { type: 'finish', finishReason: 'stop' } as const

/** `start`, a text of these words, `finish`. */
export function textMessage(...words: readonly string[]): UiChunk[] {
  return [
    started,
    { type: 'text-start', id: '1' },
    ...words.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
    { type: 'text-end', id: '1' },
    finished,
  ]
}
