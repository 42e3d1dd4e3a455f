// One reader of one stream, over as many connections as it takes.
//
// Owns:  the cursor (the index of the next chunk), the outcome.
// Asks:  the connector for the next connection.
// Never: delivers a chunk twice, or after one that it lacks.
//
// F1. Chunk `cursor` is delivered next, whatever index a connection begins at.
// F2. A terminal chunk is the last; the connection is closed then, even if the server keeps it
//     open.
// F3. The outcome is set before the last chunk is delivered.

import {
  indexFromHeader,
  isTerminalChunk,
  startIndexHeader,
  type UiChunk,
} from '@holdfast/chat-protocol'
import type { ChatOutcome } from './connection.ts'
import type { Connector } from './connector.ts'
import { ChatTransportError } from './error.ts'
import { type ReadOptions, readResponse } from './read-response.ts'

/** How far a reader is; changed by {@link followStream} alone. */
export interface ReaderState {
  /** The index of the next chunk, which is the number of chunks that were read. */
  cursor: number
  /** Absent: the end has not been seen. */
  outcome?: ChatOutcome
}

/** The connection to begin with. */
export interface FirstConnection {
  readonly response: Response
  /** The index of its first chunk, unless the response says otherwise. */
  readonly from: number
  /** Whether it is a reconnect, whose emptiness is an error. */
  readonly isReconnect: boolean
}

/** What {@link followStream} works with. */
export interface FollowOptions extends ReadOptions {
  readonly connector: Connector
  onOpen(): void
}

/**
 * Delivers the chunks of a stream from the state's cursor to its end, each once and in order.
 *
 * Returns after a terminal chunk, when nothing is active any more, or when the signal is aborted.
 *
 * @throws what {@link Connector.open} throws, except for an abort
 */
export async function* followStream(
  first: FirstConnection,
  state: ReaderState,
  options: FollowOptions,
): AsyncGenerator<UiChunk, void, undefined> {
  let connection = first
  for (;;) {
    options.onOpen()
    const openedAt = options.system.now()
    let progressed = false
    let heard = false
    let cause: unknown
    const indexOf = createIndexer(connection)

    for await (const item of readResponse(connection.response, options)) {
      if (item.kind === 'heartbeat') {
        heard = true
        continue
      }
      if (item.kind === 'cut') {
        cause = item.cause
        break
      }
      const index = indexOf(item.id)
      if (index < state.cursor) continue
      if (index > state.cursor) {
        cause = new ChatTransportError(
          'stream_gap',
          `The server went on at chunk ${index}; the next one is ${state.cursor}.`,
        )
        break
      }
      progressed = true
      state.cursor = index + 1
      const { chunk } = item
      if (isTerminalChunk(chunk)) state.outcome = outcomeOf(chunk.type)
      yield chunk
      if (state.outcome !== undefined) return
    }

    if (options.signal.aborted) return
    const openMs = options.system.now() - openedAt
    options.connector.cut({ progressed, heard, openMs, cause, counted: connection.isReconnect })
    const response = await openUnlessAborted(state.cursor, options)
    if (response === 'aborted') return
    if (response === null) {
      state.outcome = 'inactive'
      return
    }
    connection = { response, from: state.cursor, isReconnect: true }
  }
}

async function openUnlessAborted(
  cursor: number,
  { connector, signal }: FollowOptions,
): Promise<Response | null | 'aborted'> {
  try {
    return await connector.open(cursor)
  } catch (error) {
    if (signal.aborted) return 'aborted'
    throw error
  }
}

/**
 * Numbers a connection's chunks. Only a server that says where it begins is trusted to number its
 * frames.
 */
function createIndexer({ response, from }: FirstConnection): (id: string | undefined) => number {
  const served = indexFromHeader(response.headers.get(startIndexHeader))
  let next = served ?? from
  return (id) => {
    const index = (served === undefined ? undefined : indexFromHeader(id)) ?? next
    next = index + 1
    return index
  }
}

function outcomeOf(type: 'finish' | 'abort' | 'error'): ChatOutcome {
  switch (type) {
    case 'finish':
      return 'finished'
    case 'abort':
      return 'aborted'
    case 'error':
      return 'failed'
  }
}
