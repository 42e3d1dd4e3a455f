// The result of a call that is under way.
//
// Owns:  nothing but the call's feed of parts and the promise of its end.
// Never: starts, slows or stops the call: it runs whether or not anybody reads.
//
// R1. Nothing rejects unless it was asked for: a failed or aborted call leaves no unhandled rejection.
// R2. Every stream begins with the first part, whenever it was asked for, and closes when the call is over.
import type { AsyncIterableStream, UIMessageChunk, UIMessageStreamOptions } from 'ai'
import { configurationInvalid } from '@holdfast/core'
import type { OutputSpecification } from './output.ts'
import type { PartFeed } from './part-feed.ts'
import { toUIMessageChunk } from './to-ui-chunk.ts'
import type { ErrorText } from './error-text.ts'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { WorkflowAgentGenerateResult, WorkflowAgentLiveResult } from './results.ts'
import type { LivePart } from './text-stream-part.ts'

/** One part in both of its forms: the loop's for UI chunks, AI SDK's for `stream`. */
export interface FedPart {
  readonly part: ModelCallStreamPart
  readonly live: readonly LivePart[]
}

/** What a live result is made of. */
export interface LiveMaterial {
  readonly feed: PartFeed<FedPart>
  /** Resolves when the call is over, also after an abort; rejects when it failed. */
  readonly ended: Promise<WorkflowAgentGenerateResult>
  readonly output: OutputSpecification
  readonly errorText: ErrorText
}

/** Makes the live result of a call. */
export function liveResult(material: LiveMaterial): WorkflowAgentLiveResult {
  return new LiveResult(material) as unknown as WorkflowAgentLiveResult
}

type Ended = WorkflowAgentGenerateResult

/** Where `pipe…ToResponse` writes: what it needs of a Node response. */
interface ResponseWriter {
  writeHead(status: number, statusText: string, headers: Record<string, string>): unknown
  write(text: string): boolean
  once(event: 'drain' | 'close', listener: () => void): unknown
  end(): unknown
}

const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  'x-vercel-ai-ui-message-stream': 'v1',
  'x-accel-buffering': 'no',
}
const textHeaders = { 'content-type': 'text/plain; charset=utf-8' }

class LiveResult {
  private readonly material: LiveMaterial

  constructor(material: LiveMaterial) {
    this.material = material
    void material.ended.catch(() => undefined)
  }

  get messages() {
    return this.of('messages')
  }
  get pendingApprovals() {
    return this.of('pendingApprovals')
  }
  get clientToolCalls() {
    return this.of('clientToolCalls')
  }
  get content() {
    return this.of('content')
  }
  get text() {
    return this.of('text')
  }
  get reasoning() {
    return this.of('reasoning')
  }
  get reasoningText() {
    return this.of('reasoningText')
  }
  get files() {
    return this.of('files')
  }
  get sources() {
    return this.of('sources')
  }
  get toolCalls() {
    return this.of('toolCalls')
  }
  get staticToolCalls() {
    return this.of('staticToolCalls')
  }
  get dynamicToolCalls() {
    return this.of('dynamicToolCalls')
  }
  get toolResults() {
    return this.of('toolResults')
  }
  get staticToolResults() {
    return this.of('staticToolResults')
  }
  get dynamicToolResults() {
    return this.of('dynamicToolResults')
  }
  get finishReason() {
    return this.of('finishReason')
  }
  get rawFinishReason() {
    return this.of('rawFinishReason')
  }
  get usage() {
    return this.of('usage')
  }
  get totalUsage() {
    return this.of('totalUsage')
  }
  get warnings() {
    return this.of('warnings')
  }
  get steps() {
    return this.of('steps')
  }
  get finalStep() {
    return this.of('finalStep')
  }
  get request() {
    return this.of('request')
  }
  get response() {
    return this.of('response')
  }
  get responseMessages() {
    return this.of('responseMessages')
  }
  get providerMetadata() {
    return this.of('providerMetadata')
  }
  get output() {
    return this.of('output')
  }

  async isLoopFinished(): Promise<boolean> {
    return (await this.material.ended).isLoopFinished()
  }

  get stream(): AsyncIterableStream<LivePart> {
    return this.material.feed.stream(({ live }) => live)
  }

  get fullStream(): AsyncIterableStream<LivePart> {
    return this.stream
  }

  get textStream(): AsyncIterableStream<string> {
    return this.material.feed.stream(({ part }) =>
      part.type === 'text-delta' && part.text !== '' ? [part.text] : [],
    )
  }

  get partialOutputStream(): AsyncIterableStream<unknown> {
    return enriched(this.material).pipeThrough(
      new TransformStream<Enriched, unknown>({
        transform({ partialOutput }, controller) {
          if (partialOutput !== undefined) controller.enqueue(partialOutput)
        },
      }),
    ) as AsyncIterableStream<unknown>
  }

  get experimental_partialOutputStream(): AsyncIterableStream<unknown> {
    return this.partialOutputStream
  }

  get elementStream(): AsyncIterableStream<unknown> {
    const transform = this.material.output.createElementStreamTransform()
    if (transform === undefined) {
      throw configurationInvalid('elementStream needs an output of elements: Output.array.')
    }
    return enriched(this.material).pipeThrough(transform) as AsyncIterableStream<unknown>
  }

  async consumeStream(options?: { readonly onError?: (error: unknown) => void }): Promise<void> {
    try {
      await this.material.ended
    } catch (error) {
      options?.onError?.(error)
    }
  }

  toUIMessageStream(
    options: UIMessageStreamOptions<never> = {},
  ): AsyncIterableStream<UIMessageChunk> {
    const { onEnd, onFinish, onStepEnd, onStepFinish, messageMetadata, originalMessages } = {
      onStepFinish: undefined,
      ...options,
    }
    if ((onEnd ?? onFinish ?? onStepEnd ?? onStepFinish ?? messageMetadata) !== undefined) {
      throw configurationInvalid(
        "What gathers a UI message is AI SDK's: toUIMessageStream({ stream: result.stream, … }).",
      )
    }
    const { sendReasoning = true, sendSources = false, onError, generateMessageId } = options
    const { sendStart = true, sendFinish = true } = options
    const { errorText } = this.material
    const last = originalMessages?.at(-1) as { role: string; id: string } | undefined
    const given = last?.role === 'assistant' ? last.id : generateMessageId?.()
    const chunks = {
      sendReasoning,
      sendSources,
      errorText: onError === undefined ? errorText : (error: unknown) => onError(error),
    }
    return this.material.feed.stream(({ part }) => {
      if (part.type === 'start') {
        if (!sendStart) return []
        return [given === undefined ? { ...part } : { type: 'start', messageId: given }]
      }
      if (part.type === 'finish' && !sendFinish) return []
      const chunk = toUIMessageChunk(part, chunks)
      return chunk === undefined ? [] : [chunk]
    })
  }

  toUIMessageStreamResponse(options: ResponseInit & UIMessageStreamOptions<never> = {}): Response {
    const { status, statusText, headers, ...rest } = options
    return new Response(events(this.toUIMessageStream(rest)), {
      ...(status === undefined ? {} : { status }),
      ...(statusText === undefined ? {} : { statusText }),
      headers: { ...eventStreamHeaders, ...Object.fromEntries(new Headers(headers)) },
    })
  }

  toTextStreamResponse(init: ResponseInit = {}): Response {
    const headers = { ...textHeaders, ...Object.fromEntries(new Headers(init.headers)) }
    return new Response(encoded(this.textStream), { ...init, headers })
  }

  async pipeUIMessageStreamToResponse(
    response: ResponseWriter,
    options: ResponseInit & UIMessageStreamOptions<never> = {},
  ): Promise<void> {
    const { status, statusText, headers, ...rest } = options
    const head = { ...eventStreamHeaders, ...Object.fromEntries(new Headers(headers)) }
    response.writeHead(status ?? 200, statusText ?? 'OK', head)
    await pipe(this.toUIMessageStream(rest), response, eventOf, lastEvent)
  }

  async pipeTextStreamToResponse(response: ResponseWriter, init: ResponseInit = {}): Promise<void> {
    const head = { ...textHeaders, ...Object.fromEntries(new Headers(init.headers)) }
    response.writeHead(init.status ?? 200, init.statusText ?? 'OK', head)
    await pipe(this.textStream, response, (text) => text, '')
  }

  private async of<Name extends keyof Ended>(name: Name): Promise<Ended[Name]> {
    return (await this.material.ended)[name]
  }
}

interface Enriched {
  readonly part: never
  readonly partialOutput: unknown
}

/** The text so far of the step that gives it, as the output specification reads it: told when it has changed. */
function enriched({ feed, output }: LiveMaterial): ReadableStream<Enriched> {
  let text = ''
  let told: string | undefined
  return feed.stream(async ({ part, live }) => {
    if (part.type === 'start-step' || part.type === 'reset-step') text = ''
    if (part.type !== 'text-delta') return []
    text += part.text
    const partial = await output.parsePartialOutput({ text })
    if (partial === undefined) return []
    const json = JSON.stringify(partial.partial)
    if (json === told) return []
    told = json
    return [{ part: live[0] as never, partialOutput: partial.partial }]
  })
}

const lastEvent = 'data: [DONE]\n\n'

function eventOf(chunk: UIMessageChunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

function events(chunks: ReadableStream<UIMessageChunk>): ReadableStream<Uint8Array> {
  return encoded(
    chunks.pipeThrough(
      new TransformStream<UIMessageChunk, string>({
        transform: (chunk, controller) => controller.enqueue(eventOf(chunk)),
        flush: (controller) => controller.enqueue(lastEvent),
      }),
    ),
  )
}

function encoded(texts: ReadableStream<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return texts.pipeThrough(
    new TransformStream<string, Uint8Array>({
      transform: (text, controller) => controller.enqueue(encoder.encode(text)),
    }),
  )
}

/** Writes a whole stream, waiting while a slow reader's buffer is full; one that has gone away gets no more. */
async function pipe<Item>(
  items: AsyncIterable<Item>,
  response: ResponseWriter,
  textOf: (item: Item) => string,
  last: string,
): Promise<void> {
  let isGone = false
  let resume: () => void = () => undefined
  response.once('close', () => {
    isGone = true
    resume()
  })
  for await (const item of items) {
    if (isGone) return
    if (response.write(textOf(item)) || isGone) continue
    await new Promise<void>((resolve) => {
      resume = resolve
      response.once('drain', resolve)
    })
  }
  if (last !== '') response.write(last)
  response.end()
}
