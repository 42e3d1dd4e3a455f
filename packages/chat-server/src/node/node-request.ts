import type { IncomingMessage } from 'node:http'
import { ErrorCode, HoldfastError } from '@holdfast/core'

/** Most bytes of a refused body that are read and dropped before the connection is cut. */
const maxDroppedBytes = 16 * 1024 * 1024

/** A request that came in over `node:http`. */
export interface NodeRequest {
  readonly request: Request
  /** Reads what is left of the body and drops it, so that the connection can be used on. */
  dropBody(): void
}

/**
 * The web request of an incoming message. Its body is read only as it is asked for.
 *
 * @throws `arguments_invalid` a URL or method that no web request can have
 */
export function requestFromNode(
  incoming: IncomingMessage,
  origin: string,
  signal: AbortSignal,
): NodeRequest {
  const { method = 'GET' } = incoming
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? bodyOf(incoming) : undefined
  try {
    const request = new Request(urlOf(incoming, origin), {
      method,
      headers: headersOf(incoming),
      signal,
      ...(body === undefined ? {} : { body: body.stream, duplex: 'half' }),
    })
    return {
      request,
      dropBody() {
        if (body === undefined) incoming.resume()
        else body.drop()
      },
    }
  } catch (cause) {
    incoming.resume()
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: 'The request cannot be read.',
      cause,
    })
  }
}

/** A path that begins with `//` must not name another host. */
function urlOf({ url = '/' }: IncomingMessage, origin: string): URL {
  const path = url.startsWith('/') ? url : new URL(url).pathname
  return new URL(`${new URL(origin).origin}${path}`)
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!name.startsWith(':')) headers.append(name, rawHeaders[at + 1] ?? '')
  }
  return headers
}

/** The body as it comes in, and a way to let go of it. */
function bodyOf(incoming: IncomingMessage): {
  readonly stream: ReadableStream<Uint8Array>
  drop(): void
} {
  let isOver = false
  let dropped = 0

  function drop(): void {
    isOver = true
    incoming.resume()
  }

  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (cause?: unknown): void => {
          if (isOver) return
          isOver = true
          controller.error(cause ?? new Error('The client went away.'))
        }
        incoming.on('data', (piece: Uint8Array) => {
          if (isOver) {
            dropped += piece.byteLength
            if (dropped > maxDroppedBytes) incoming.destroy()
            return
          }
          controller.enqueue(new Uint8Array(piece))
          if ((controller.desiredSize ?? 0) <= 0) incoming.pause()
        })
        incoming.once('end', () => {
          if (isOver) return
          isOver = true
          controller.close()
        })
        incoming.once('error', fail)
        incoming.once('close', () => fail())
        incoming.pause()
      },
      pull() {
        incoming.resume()
      },
      cancel: drop,
    },
    { highWaterMark: 1 },
  )
  return { stream, drop }
}
