// A handler of web requests as a listener of `node:http`.
//
// Owns:  one request at a time.
// Asks:  the handler for the response.
// Never: buffers a body, stops a run: a client that goes only ends its own reader.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Log, silentLog } from '@holdfast/core'
import { errorResponse } from '../http-error.ts'
import { pathNotFound } from '../not-found.ts'
import { writeResponse } from './node-response.ts'
import { requestFromNode } from './node-request.ts'

/** Answers a request, or says by `undefined` that it is not its own. */
export type RequestHandler = (request: Request) => Promise<Response | undefined>

/** Options of {@link toNodeListener}. */
export interface NodeListenerOptions {
  /**
   * The origin that requests are given: only their URL's path and query come from the client. Default `http://localhost`.
   */
  readonly origin?: string
  readonly log?: Log
}

/**
 * Makes a listener for `createServer` of `node:http` from one or more handlers, asked in this order; 404 when none answers.
 *
 * Bodies are streamed both ways with back-pressure. The request's signal fires when the client has gone.
 */
export function toNodeListener(
  handlers: RequestHandler | readonly RequestHandler[],
  { origin = 'http://localhost', log = silentLog }: NodeListenerOptions = {},
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const asked = typeof handlers === 'function' ? [handlers] : handlers

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController()
    outgoing.once('close', () => gone.abort())
    let dropBody: () => void = () => undefined
    let response: Response
    try {
      const read = requestFromNode(incoming, origin, gone.signal)
      dropBody = () => read.dropBody()
      response = await respond(read.request)
    } catch (error) {
      response = errorResponse(error, log)
    }
    // What was not read of it would be taken for the next request.
    dropBody()
    await writeResponse(outgoing, response, incoming.method === 'HEAD')
  }

  async function respond(request: Request): Promise<Response> {
    for (const handle of asked) {
      const response = await handle(request)
      if (response !== undefined) return response
    }
    throw pathNotFound()
  }

  return (incoming, outgoing) => {
    answer(incoming, outgoing).catch((cause: unknown) => {
      log.write({
        level: 'warn',
        event: 'chat_server.node.failed',
        message: 'A response could not be sent.',
        cause,
      })
      outgoing.destroy()
    })
  }
}
