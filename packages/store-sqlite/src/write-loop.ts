// Turns what arrives into groups, and watches for other processes' changes.
//
// L1. What arrives while a group is being written goes into the next one.
// L2. A session's commits keep the order of their arrival; beyond a group's bounds, chunks wait and
//     steps go first.
// L3. What no answer waits for is done after the answers, a little at a time.
// L4. While another process holds the lock, the group is tried again, for at most `busyMs`.
import { system } from '@holdfast/core/system'
import type { SessionId } from '@holdfast/core'
import type { GroupWriter } from './group-writer.ts'
import { storageError } from './storage-error.ts'
import { decodeRequest, sendableError } from './writer-message.ts'
import type { WriterInput, WriterOutput, WriterRequest } from './writer-message.ts'

/** How many requests, and about how many characters, one transaction takes. */
const groupRequests = 1_000
const groupLength = 8 * 1024 * 1024

/** How long a group is tried while another process holds the lock. Milliseconds. */
const busyMs = 5_000

/** How often other processes' changes are looked for: quick while there are some, then slower. Milliseconds. */
const pollMs = { least: 3, most: 24 }

/** A writer's loop. `take` gives it more input without waiting, as far as there is some. */
export class WriteLoop {
  readonly #writer: GroupWriter
  readonly #path: string
  readonly #send: (output: WriterOutput) => void
  readonly #take: () => WriterInput | undefined
  #pending: WriterRequest[] = []
  #now = 0
  #closing = false
  #busySince: number | undefined
  #stopPolling: (() => void) | undefined
  #seenVersion: number | undefined
  #pollDelay: number = pollMs.least

  constructor(
    writer: GroupWriter,
    path: string,
    send: (output: WriterOutput) => void,
    take: () => WriterInput | undefined,
  ) {
    this.#writer = writer
    this.#path = path
    this.#send = send
    this.#take = take
  }

  /** Takes one input and all that is there behind it, and writes until nothing is left. */
  receive(first: WriterInput): void {
    this.#accept(first)
    if (this.#busySince === undefined) this.#writeOn()
  }

  #writeOn(): void {
    let wrote = false
    for (;;) {
      for (let more = this.#take(); more !== undefined; more = this.#take()) this.#accept(more)
      if (this.#pending.length === 0) break
      const [group, rest] = nextGroup(this.#pending)
      const written = this.#writer.write(group, this.#now)
      if (written === 'busy') {
        if (!this.#waitForLock(group, rest)) return
        continue
      }
      this.#busySince = undefined
      this.#pending = rest
      this.#send({ kind: 'written', responses: written })
      wrote = true
    }
    if (this.#closing) this.#close()
    else if (wrote) this.#writer.tend()
  }

  /** Tries again a little later; false means that it will. True: the group was given up. */
  #waitForLock(group: readonly WriterRequest[], rest: WriterRequest[]): boolean {
    const now = system.now()
    this.#busySince ??= now
    if (now - this.#busySince < busyMs) {
      system.after(1 + system.next() * 8, () => this.#writeOn())
      return false
    }
    this.#busySince = undefined
    this.#pending = rest
    const error = sendableError(storageError({ errcode: 5 }, this.#path))
    const responses = group.map(({ id }) => ({ id, kind: 'failed' as const, error }))
    this.#send({ kind: 'written', responses })
    return true
  }

  #accept(input: WriterInput): void {
    switch (input.kind) {
      case 'write':
        this.#now = Math.max(this.#now, input.now)
        for (const request of input.requests) this.#pending.push(decodeRequest(request))
        return
      case 'poll':
        if (input.on) this.#startPolling()
        else this.#endPolling()
        return
      case 'close':
        this.#closing = true
        return
    }
  }

  #startPolling(): void {
    if (this.#stopPolling !== undefined) return
    // A change may have come between the watch and this moment: it is told of unconditionally.
    this.#seenVersion = undefined
    this.#poll()
  }

  #poll(): void {
    const version = this.#writer.dataVersion()
    const changed = version === undefined || version !== this.#seenVersion
    if (changed) this.#send({ kind: 'changed' })
    this.#seenVersion = version
    this.#pollDelay = changed ? pollMs.least : Math.min(this.#pollDelay * 1.25, pollMs.most)
    this.#stopPolling = system.after(this.#pollDelay, () => this.#poll())
  }

  #endPolling(): void {
    this.#stopPolling?.()
    this.#stopPolling = undefined
  }

  #close(): void {
    this.#endPolling()
    this.#writer.close()
    this.#send({ kind: 'closed' })
  }
}

/** The requests that go into the next transaction, and the others. */
export function nextGroup(
  pending: readonly WriterRequest[],
): readonly [group: readonly WriterRequest[], rest: WriterRequest[]] {
  if (fits(pending)) return [pending, []]
  const group = new Set<WriterRequest>()
  let length = 0
  const urgent = sessionsOfSteps(pending)
  const add = (wanted: (request: WriterRequest) => boolean): void => {
    const full = new Set<SessionId>()
    for (const request of pending) {
      if (group.has(request) || !wanted(request)) continue
      const size = lengthOf(request)
      const session = sessionOf(request)
      const room = group.size === 0 || (group.size < groupRequests && length + size <= groupLength)
      // Behind one of its session that found no room, a request waits too.
      if (!room || full.has(session)) {
        full.add(session)
        continue
      }
      group.add(request)
      length += size
    }
  }
  add((request) => urgent.has(sessionOf(request)))
  add(() => true)
  return [
    pending.filter((request) => group.has(request)),
    pending.filter((request) => !group.has(request)),
  ]
}

function fits(pending: readonly WriterRequest[]): boolean {
  if (pending.length > groupRequests) return false
  let length = 0
  for (const request of pending) length += lengthOf(request)
  return length <= groupLength
}

function sessionsOfSteps(pending: readonly WriterRequest[]): ReadonlySet<SessionId> {
  const sessions = new Set<SessionId>()
  for (const request of pending) {
    if (request.kind !== 'commit' || request.commit.urgency !== 'chunks') {
      sessions.add(sessionOf(request))
    }
  }
  return sessions
}

function sessionOf(request: WriterRequest): SessionId {
  switch (request.kind) {
    case 'commit':
      return request.commit.sessionId
    case 'claim':
      return request.sessionId
    case 'release':
      return request.claim.sessionId
  }
}

function lengthOf(request: WriterRequest): number {
  if (request.kind !== 'commit') return 0
  let length = 0
  for (const write of request.commit.writes) {
    switch (write.kind) {
      case 'input-put':
      case 'blob-put':
        length += write.bytes.length
        break
      case 'journal-append':
        length += write.data.length
        break
      case 'stream-append':
        for (const { data } of write.chunks) length += data.length
        break
      case 'log-append':
      case 'document-put':
        length += write.value.length
        break
      case 'run-create':
      case 'run-swap':
      case 'stream-close':
      case 'log-close':
      case 'log-unchanged':
      case 'document-delete':
      case 'run-purge':
        break
    }
  }
  return length
}
