// A run's output: one ordered queue, stored in the index space that readers see.
//
// Owns:  the queue, the number and the next index of the open stream, who may still write.
// Asks:  the journal writer to store what is queued.
// Never: reorders, drops or repeats a chunk that was queued.
//
// O1. Chunks are stored in the order in which they were queued.
// O2. A stream's opening chunks are stored with its first chunk, or with its close.
// O3. A writer is revoked when its attempt ends.
import { ErrorCode, HoldfastError, Limits, streamIdOf } from '@holdfast/core'
import type {
  JsonValue,
  RunError,
  Store,
  StreamAppend,
  StreamChunk,
  StreamClose,
  StreamEnd,
  StreamFraming,
} from '@holdfast/core'
import { encodeJson, sha256Hex, utf8Length } from '@holdfast/json'

const queueChunks = 256
const queueBytes = 256 * 1_024
const tagBytes = 512

/** What closes a stream. */
export interface Closing {
  readonly end: StreamEnd
  readonly error?: RunError
  readonly output?: JsonValue
}

/** The output of one run. */
export class OutputQueue {
  readonly #runId: string
  readonly #framing: StreamFraming | undefined
  readonly #framingFailed: (cause: unknown) => void
  #queued: StreamChunk[] = []
  #bytes = 0
  #room: (() => void)[] = []
  #number: number
  #next: number
  #opened: boolean

  /** `number`: of the stream that is open or would be next; `next`: how many chunks it has, if it is there. */
  constructor(
    runId: string,
    framing: StreamFraming | undefined,
    stream: { readonly number: number; readonly next: number | undefined },
    framingFailed: (cause: unknown) => void,
  ) {
    this.#framingFailed = framingFailed
    this.#runId = runId
    this.#framing = framing
    this.#number = stream.number
    this.#next = stream.next ?? 0
    this.#opened = stream.next !== undefined
  }

  /** The number of the stream that is open or would be opened next. */
  get number(): number {
    return this.#number
  }

  get isEmpty(): boolean {
    return this.#queued.length === 0
  }

  /** Whether there is a stream that readers may wait for the end of. */
  get isPromised(): boolean {
    return this.#opened || !this.isEmpty || this.#framing !== undefined || this.#number > 1
  }

  /**
   * Queues chunks. Resolves when the queue has room; `undefined`: it has.
   */
  write(chunks: readonly StreamChunk[]): Promise<void> | undefined {
    for (const chunk of chunks) {
      this.#queued.push(chunk)
      this.#bytes += chunk.data.length
    }
    if (this.#hasRoom()) return undefined
    return new Promise((resolve) => {
      this.#room.push(resolve)
    })
  }

  /** Takes all that is queued, for the next commit; `stored` must follow once it is durable. */
  take(): StreamAppend | undefined {
    if (this.#queued.length === 0) return undefined
    const taken = this.#queued
    this.#queued = []
    this.#bytes = 0
    return this.#append(this.#opened ? taken : [...this.#opening(), ...taken])
  }

  /** What `take` gave is durable. */
  stored(append: StreamAppend): void {
    this.#opened = true
    this.#next = append.expectedNext + append.chunks.length
    if (this.#hasRoom()) {
      const waiting = this.#room
      this.#room = []
      for (const resolve of waiting) resolve()
    }
  }

  /** Everything that is queued, the closing chunks, and the close: for the commit that ends the stream. */
  close(
    closing: Closing,
  ): { readonly chunks?: StreamAppend; readonly close: StreamClose } | undefined {
    if (!this.isPromised) return undefined
    const chunks = [
      ...(this.#opened ? [] : this.#opening()),
      ...this.#queued,
      ...this.#framed(() =>
        this.#framing?.closing?.({
          runId: this.#runId,
          number: this.#number,
          end: closing.end,
          opened: this.#opened || this.#queued.length > 0,
          ...(closing.error === undefined ? {} : { error: closing.error }),
          ...(closing.output === undefined ? {} : { output: closing.output }),
        }),
      ),
    ]
    const streamId = streamIdOf(this.#runId, this.#number)
    return {
      ...(chunks.length === 0 ? {} : { chunks: this.#append(chunks) }),
      close: { kind: 'stream-close', streamId, end: closing.end },
    }
  }

  /** The close is durable: what is written from here on goes to the next stream. */
  closed(): void {
    this.#queued = []
    this.#bytes = 0
    this.#number += 1
    this.#next = 0
    this.#opened = false
    for (const resolve of this.#room.splice(0)) resolve()
  }

  /** Lets go of everybody who waits for room. */
  drop(): void {
    for (const resolve of this.#room.splice(0)) resolve()
  }

  #hasRoom(): boolean {
    return this.#queued.length <= queueChunks && this.#bytes <= queueBytes
  }

  #append(chunks: readonly StreamChunk[]): StreamAppend {
    const streamId = streamIdOf(this.#runId, this.#number)
    return { kind: 'stream-append', streamId, expectedNext: this.#next, chunks }
  }

  #opening(): readonly StreamChunk[] {
    return this.#framed(() =>
      this.#framing?.opening?.({ runId: this.#runId, number: this.#number }),
    )
  }

  /** A definition's framing chunks. If it fails, the run goes on without them. */
  #framed(make: () => readonly JsonValue[] | undefined): readonly StreamChunk[] {
    try {
      return (make() ?? []).map((chunk) => encodeChunk(undefined, chunk))
    } catch (cause) {
      this.#framingFailed(cause)
      return []
    }
  }
}

/** The mark of an operation's chunks: its path, or a digest of one that is too long for a store. */
export function chunkTag(path: string): string {
  return utf8Length(path) <= tagBytes ? path : sha256Hex(new TextEncoder().encode(path))
}

/**
 * Chunks of the operation with this path, as they are stored.
 *
 * @throws `json_unsupported_value` and its like, `limit_exceeded` for a chunk over 1 MiB
 */
export function encodeChunks(path: string, chunks: readonly JsonValue[]): readonly StreamChunk[] {
  const tag = chunkTag(path)
  return chunks.map((chunk) => encodeChunk(tag, chunk))
}

function encodeChunk(tag: string | undefined, chunk: JsonValue): StreamChunk {
  const data = encodeJson(chunk)
  if (data.length * 3 > Limits.chunkBytes && utf8Length(data) > Limits.chunkBytes) {
    throw new HoldfastError(ErrorCode.limitExceeded, {
      message: `A chunk has more than ${Limits.chunkBytes} bytes.`,
      details: { limit: 'chunkBytes' },
    })
  }
  return tag === undefined ? { data } : { data, tag }
}

const pageChunks = 1_000

/**
 * Which operations have stored chunks in the open stream, by their tags. Reads the open stream once.
 *
 * One that took its chunks back by a `reset-step` still counts: its `start-step` stands.
 */
export async function writersOf(
  store: Store,
  sessionId: string,
  streamId: string,
): Promise<ReadonlySet<string>> {
  const writers = new Set<string>()
  let from = 0
  for (;;) {
    const page = await store.streamPage(sessionId, streamId, { from, limit: pageChunks })
    if (page === undefined || page.chunks.length === 0) return writers
    for (const { tag } of page.chunks) if (tag !== undefined) writers.add(tag)
    from += page.chunks.length
  }
}
