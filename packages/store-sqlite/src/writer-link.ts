// A store's line to its writer, on a thread of its own or on this one.
//
// Owns:  what waits to be sent, what waits to be answered, chunks that are held.
// Asks:  the system for the moment of sending and for the hold.
// Never: looks into a commit.
//
// K1. What is asked for in one turn of the event loop goes to the writer in one message.
// K2. Chunks are sent no more often than each `chunkHoldMs`, or along with the first commit that is not
//     held: many streams share a transaction, and a lone one's chunk waits for nobody.
// K3. If the thread ends by itself, everything that waits is answered, as of unknown outcome.
// K4. When opening has failed, or closing has resolved, the thread has exited: its process may then.
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'
import { configurationInvalid, ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { System } from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import type { SqlDriver } from './driver.ts'
import { GroupWriter } from './group-writer.ts'
import { storageError } from './storage-error.ts'
import { WriteLoop } from './write-loop.ts'
import { receivedError } from './writer-message.ts'
import type {
  EncodedRequest,
  WriterInput,
  WriterOutput,
  WriterResponse,
  WriterSettings,
} from './writer-message.ts'

/** What a writer's answer can be besides a failure. */
export type WriterAnswer = Exclude<WriterResponse, { readonly kind: 'failed' }>

/** A request without its number. */
export type LinkRequest = EncodedRequest extends infer Request
  ? Request extends EncodedRequest
    ? Omit<Request, 'id'>
    : never
  : never

/** The two ends of a line: this module has one, the writer the other. */
export interface WriterPort {
  send(input: WriterInput): void
  /** Whether something is being waited for: a thread that is only idle does not keep a process alive. */
  setBusy(busy: boolean): void
  /** Resolves once the writer that was closed, or is lost, is gone altogether. */
  gone(): Promise<void>
}

/** What a line tells its store of. */
export interface LinkEvents {
  /** Another process has changed the file. */
  readonly changed: () => void
  /** The writer is gone for good. */
  readonly lost: (error: HoldfastError) => void
}

/** Options of a line. */
export interface LinkOptions {
  readonly system: System
  readonly queueCommits: number
}

interface Waiting {
  readonly resolve: (answer: WriterAnswer) => void
  readonly reject: (error: HoldfastError) => void
}

/** A line to a writer. */
export class WriterLink {
  readonly #port: WriterPort
  readonly #options: LinkOptions
  readonly #events: LinkEvents
  readonly #waiting = new Map<number, Waiting>()
  #outgoing: EncodedRequest[] = []
  #nextId = 1
  #sending = false
  #sentAt = Number.NEGATIVE_INFINITY
  #cancelHold: (() => void) | undefined
  #closing: { readonly resolve: () => void } | undefined
  #lost: HoldfastError | undefined
  #closed = false

  constructor(port: WriterPort, options: LinkOptions, events: LinkEvents) {
    this.#port = port
    this.#options = options
    this.#events = events
  }

  /** Asks for something. `held`: it may wait a little for company. @throws `store_unavailable` when too much waits */
  ask(request: LinkRequest, held: boolean): Promise<WriterAnswer> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    if (this.#waiting.size >= this.#options.queueCommits) {
      const message = `${this.#options.queueCommits} commits are waiting; try again later.`
      return Promise.reject(new HoldfastError(ErrorCode.storeUnavailable, { message }))
    }
    const id = this.#nextId
    this.#nextId += 1
    this.#outgoing.push({ ...request, id })
    if (held) this.#hold()
    else this.#sendSoon()
    if (this.#waiting.size === 0) this.#port.setBusy(true)
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
    })
  }

  /** Looks for other processes' changes, or stops to. */
  poll(on: boolean): void {
    if (this.#lost === undefined && this.#closing === undefined)
      this.#port.send({ kind: 'poll', on })
  }

  /** Has everything written that was asked for, and the file closed. */
  async close(): Promise<void> {
    this.#port.setBusy(true)
    if (this.#lost === undefined) {
      this.#send()
      await new Promise<void>((resolve) => {
        this.#closing = { resolve }
        this.#port.send({ kind: 'close' })
      })
    }
    await this.#port.gone()
  }

  /** What the writer has sent. */
  receive(output: WriterOutput): void {
    switch (output.kind) {
      case 'opened':
      case 'failed-to-open':
        return
      case 'written':
        for (const response of output.responses) this.#answer(response)
        if (this.#waiting.size === 0 && this.#closing === undefined) this.#port.setBusy(false)
        return
      case 'changed':
        this.#events.changed()
        return
      case 'closed':
        this.#closed = true
        this.#closing?.resolve()
        return
    }
  }

  /** The writer has ended without being asked to. */
  lose(cause: unknown): void {
    if (this.#lost !== undefined || this.#closed) return
    this.#lost = new HoldfastError(ErrorCode.storeClosed, {
      message: "The store's writer has stopped; open the store again.",
      cause,
    })
    this.#cancelHold?.()
    const unknown = new HoldfastError(ErrorCode.storeOutcomeUnknown, {
      message: "The store's writer stopped before it answered.",
      cause,
    })
    for (const { reject } of this.#waiting.values()) reject(unknown)
    this.#waiting.clear()
    this.#closing?.resolve()
    this.#events.lost(this.#lost)
  }

  #answer(response: WriterResponse): void {
    const waiting = this.#waiting.get(response.id)
    this.#waiting.delete(response.id)
    if (response.kind === 'failed') waiting?.reject(receivedError(response.error))
    else waiting?.resolve(response)
  }

  #hold(): void {
    if (this.#sending || this.#cancelHold !== undefined) return
    const { system } = this.#options
    // A clock that was put back holds nothing up for longer.
    const since = Math.max(0, system.now() - this.#sentAt)
    if (since >= Limits.chunkHoldMs) {
      this.#sendSoon()
      return
    }
    this.#cancelHold = system.after(Limits.chunkHoldMs - since, () => {
      this.#cancelHold = undefined
      this.#send()
    })
  }

  #sendSoon(): void {
    if (this.#sending) return
    this.#sending = true
    this.#options.system.macrotask(() => this.#send())
  }

  #send(): void {
    this.#sending = false
    this.#cancelHold?.()
    this.#cancelHold = undefined
    if (this.#outgoing.length === 0 || this.#lost !== undefined) return
    const requests = this.#outgoing
    this.#outgoing = []
    this.#sentAt = this.#options.system.now()
    this.#port.send({ kind: 'write', now: this.#sentAt, requests })
  }
}

/** Starts a writer on a thread of its own. */
export async function startWorker(
  settings: WriterSettings,
  options: LinkOptions,
  events: LinkEvents,
): Promise<WriterLink> {
  const { file, options: threadOptions } = workerFile()
  const worker = new Worker(file, { workerData: settings, ...threadOptions })
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => resolve())
  })
  const link = new WriterLink(
    {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
      send: (input) => worker.postMessage(input),
      setBusy: (busy) => (busy ? worker.ref() : worker.unref()),
      gone: () => threadGone(worker, exited),
    },
    options,
    events,
  )
  const opened = new Promise<void>((resolve, reject) => {
    worker.on('message', (text: string) => {
      const output = JSON.parse(text) as WriterOutput
      if (output.kind === 'opened') resolve()
      else if (output.kind === 'failed-to-open') reject(receivedError(output.error))
      else link.receive(output)
    })
    worker.on('error', (error) => {
      reject(workerFailed(error))
      link.lose(error)
    })
    worker.on('exit', () => {
      reject(workerFailed(undefined))
      link.lose(undefined)
    })
  })
  try {
    await opened
  } catch (error) {
    await threadGone(worker, exited)
    throw error
  }
  worker.unref()
  return link
}

/** How long a thread with nothing left to do may take to exit before it is ended. Milliseconds. */
const exitMs = 5_000

/** Waits for a thread's exit, in real time; one that does not exit by itself is ended. */
async function threadGone(worker: Worker, exited: Promise<void>): Promise<void> {
  const cancel = realSystem.after(exitMs, () => void worker.terminate())
  await exited
  cancel()
}

/** Starts a writer on this thread: for hosts that cannot start another. */
export function startInThread(
  driver: SqlDriver,
  settings: WriterSettings,
  options: LinkOptions,
  events: LinkEvents,
): WriterLink {
  const inputs: WriterInput[] = []
  let writing = false
  const link = new WriterLink(
    { send: receive, setBusy: () => undefined, gone: () => Promise.resolve() },
    options,
    events,
  )
  const loop = new WriteLoop(
    openWriter(driver, settings),
    settings.path,
    (output) => link.receive(output),
    () => inputs.shift(),
  )
  return link

  function receive(input: WriterInput): void {
    inputs.push(input)
    if (writing) return
    writing = true
    try {
      for (let next = inputs.shift(); next !== undefined; next = inputs.shift()) loop.receive(next)
    } finally {
      writing = false
    }
  }
}

function openWriter(driver: SqlDriver, settings: WriterSettings): GroupWriter {
  try {
    return new GroupWriter(driver, settings)
  } catch (error) {
    throw storageError(error, settings.path)
  }
}

function address(): string | undefined {
  return import.meta.url
}

/**
 * The worker's file: beside this one, and written in the same language. Looked for when it is wanted,
 * as a bundler takes this file away from it, and some leave it without an address.
 */
function workerFile(): { readonly file: URL; readonly options: WorkerOptions } {
  const here = address() ?? ''
  // From sources, as in this repository's tests, the thread reads other packages' sources too.
  const fromSource = here.endsWith('.ts')
  const name = `writer-worker.${fromSource ? 'ts' : 'js'}`
  const file = here.startsWith('file:') ? new URL(name, here) : undefined
  if (file === undefined || !existsSync(file)) {
    throw configurationInvalid(
      `${name} is not beside the code of @holdfast/store-sqlite, as happens in a bundle: leave the` +
        ' package out of the bundle, or open the store with `worker: false`.',
    )
  }
  const execArgv = [...process.execArgv, '--conditions=@holdfast/source']
  return { file, options: fromSource ? { execArgv } : {} }
}

function workerFailed(cause: unknown): HoldfastError {
  return new HoldfastError(ErrorCode.storeUnavailable, {
    message: "The store's writer thread could not be started; `worker: false` does without it.",
    cause,
    retryable: false,
  })
}
