// MCP over Streamable HTTP: requests in, responses out.
//
// Owns:  the calls of each session that are being answered.
// Asks:  the host who a request is from; nothing else says it.
// Never: keeps an MCP session. Each request is authenticated and answered by itself, by any process.
//
// M1. A request that nobody may make reads nothing and calls nothing.
// M2. A body is bounded while it is read, and parsed strictly before anything is made of it.
// M3. When the caller goes away, its call is told; what was made durable stays.
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { configurationInvalid, isHoldfastError, wholeNumberOption } from '@holdfast/core'
import type { HoldfastError, InvokableTool, SessionId } from '@holdfast/core'
import { parseStrictJson } from '@holdfast/json'
import type { JsonLimits } from '@holdfast/json'
import { documentArguments } from './arguments.ts'
import { boundedBody } from './bounded-body.ts'
import { createMcpServer } from './mcp-server.ts'
import type { McpServerInfo } from './mcp-server.ts'

/** Whose tools a request may call. */
export interface McpSession {
  readonly sessionId: SessionId
  /** Of this session. */
  readonly tools: readonly InvokableTool[]
}

/** What MCP over HTTP is made of. */
export interface McpHandlerOptions {
  /**
   * Who a request is from, by its headers alone: a cookie, a bearer token. `undefined` refuses it with
   * 401. Called for every request.
   */
  readonly authorize: (request: Request) => McpSession | undefined | Promise<McpSession | undefined>
  /**
   * The values of `host` that are answered, port included; others get 403. A server on a loopback
   * address without authentication needs it against DNS rebinding. Default: all.
   */
  readonly allowedHosts?: readonly string[]
  /** Origins of pages that may call beside the server's own; others get 403. Default: none. */
  readonly allowedOrigins?: readonly string[]
  /** Calls of one session that may be open at once; more get 429. 1 to 1,024, default 16. */
  readonly callsAtOnce?: number
  readonly info?: McpServerInfo
  readonly instructions?: string
  /** Told of each failure with its cause, for logs. Must not throw. */
  readonly onError?: (
    error: HoldfastError,
    call: { readonly toolName: string; readonly sessionId: SessionId },
  ) => void
}

/** MCP over HTTP. */
export interface McpHandler {
  /** Answers a request to the endpoint, whatever its path. Never rejects. */
  handle(request: Request): Promise<Response>
}

/** Of a body: the arguments of a call, and the call around them. */
const bodyLimits: JsonLimits = {
  maxBytes: documentArguments.maxBytes + 8_192,
  maxDepth: documentArguments.maxDepth + 2,
  maxProperties: documentArguments.maxProperties + 64,
}

/** JSON-RPC's codes, and the range that it leaves to servers. */
const rpc = { parseError: -32_700, invalidRequest: -32_600, internal: -32_603, server: -32_000 }

/**
 * MCP's Streamable HTTP without sessions of its own: each POST is one message and gets one JSON
 * answer. A GET or DELETE gets 405, as there is nothing to listen to and nothing to end.
 *
 * A body over 272 KiB gets 413; one that is not strict JSON, or a batch, 400.
 *
 * @throws `configuration_invalid`
 *
 * @example source="../test/mcp.examples.ts#http"
 */
export function createMcpHandler(options: McpHandlerOptions): McpHandler {
  if (typeof options.authorize !== 'function') {
    throw configurationInvalid('createMcpHandler needs `authorize`.')
  }
  const callsAtOnce = wholeNumberOption('callsAtOnce', options.callsAtOnce ?? 16, {
    min: 1,
    max: 1_024,
  })
  const open = new Map<SessionId, number>()
  return {
    async handle(request) {
      try {
        const refused = refusalOfPlace(request, options)
        if (refused !== undefined) return refused
        const session = await options.authorize(request)
        if (session === undefined) {
          return refusal(401, rpc.server, 'Not authorized.', { 'www-authenticate': 'Bearer' })
        }
        if (request.method !== 'POST') {
          return refusal(405, rpc.server, 'Only POST is answered.', { allow: 'POST' })
        }
        const { sessionId } = session
        const already = open.get(sessionId) ?? 0
        if (already >= callsAtOnce) {
          return refusal(429, rpc.server, 'Too many calls at once.', { 'retry-after': '1' })
        }
        open.set(sessionId, already + 1)
        try {
          return await answer(request, session, options)
        } finally {
          const left = (open.get(sessionId) ?? 1) - 1
          if (left === 0) open.delete(sessionId)
          else open.set(sessionId, left)
        }
      } catch {
        return refusal(500, rpc.internal, 'The server failed inside.')
      }
    },
  }
}

async function answer(
  request: Request,
  { sessionId, tools }: McpSession,
  { info, instructions, onError }: McpHandlerOptions,
): Promise<Response> {
  const body = await boundedBody(request, bodyLimits.maxBytes)
  if (body === undefined) return refusal(413, rpc.server, 'The body is too large.')
  let message: unknown
  try {
    message = parseStrictJson(body, bodyLimits)
  } catch (error) {
    return refusal(
      400,
      rpc.parseError,
      isHoldfastError(error) ? `${error.code}: ${error.message}` : 'The body is no JSON.',
    )
  }
  if (!isMessage(message)) {
    return refusal(400, rpc.invalidRequest, 'The body must be one JSON-RPC message.')
  }
  const server = createMcpServer({
    tools,
    ...(info === undefined ? {} : { info }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(onError === undefined
      ? {}
      : { onError: (error, { toolName }) => onError(error, { toolName, sessionId }) }),
  })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await Promise.race([
      transport.handleRequest(request, { parsedBody: message }),
      callerGone(request.signal),
    ])
  } finally {
    await server.close()
  }
}

function isMessage(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An answer that nobody reads, once nobody is there to read it. */
async function callerGone(signal: AbortSignal): Promise<Response> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  return new Response(null, { status: 499 })
}

/** Refuses pages of other origins, and names under which the server is not to be reached. */
function refusalOfPlace(
  request: Request,
  { allowedHosts, allowedOrigins = [] }: McpHandlerOptions,
): Response | undefined {
  const host = request.headers.get('host') ?? new URL(request.url).host
  if (allowedHosts !== undefined && !allowedHosts.includes(host)) {
    return refusal(403, rpc.server, 'This host is not answered.')
  }
  const origin = request.headers.get('origin')
  if (origin === null || allowedOrigins.includes(origin)) return undefined
  if (URL.canParse(origin) && new URL(origin).host === host) return undefined
  return refusal(403, rpc.server, 'This origin is not answered.')
}

function refusal(
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
