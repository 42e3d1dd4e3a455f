// oxlint-disable-next-line typescript/no-deprecated -- the other class takes Zod schemas only
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { ErrorCode as RpcErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js'
import { asHoldfastError } from './define-tool.ts'
import { modelErrorText } from './errors.ts'
import { argumentsTextOf } from './value-arguments.ts'
import type { HoldfastError, InvokableTool, JsonObject } from '@holdfast/core'
import { decodeJson, isJsonObject } from '@holdfast/json'

/** How a server says who it is. */
export interface McpServerInfo {
  readonly name: string
  readonly version: string
  readonly title?: string
}

/** What an MCP server of tools is made of, whatever carries it. */
export interface McpServerOptions {
  /** Of one session: whoever speaks to the server acts in it. */
  readonly tools: readonly InvokableTool[]
  /** Default: `holdfast`, version `1`. */
  readonly info?: McpServerInfo
  /** What a client's model is told of the server as a whole. */
  readonly instructions?: string
  /** Told of each failure with its cause, for logs. Must not throw. */
  readonly onError?: (error: HoldfastError, call: { readonly toolName: string }) => void
}

/**
 * An MCP server of the tools, to be connected to a transport of the SDK.
 *
 * Tools are listed with input and output schema and annotations. A result is structured content, and
 * the same as text; a failure is a tool error in words for the model, as {@link modelErrorText} gives
 * them. There is no argument that names a session: the tools are bound to theirs.
 *
 * The SDK parses what comes over stdio, so duplicate keys are its parser's affair there; an integer
 * beyond 2^53 - 1 is refused. `createMcpHandler` parses strictly itself.
 *
 * @example source="../test/mcp.examples.ts#stdio"
 */
// oxlint-disable-next-line typescript/no-deprecated -- as above
export function createMcpServer(options: McpServerOptions): Server {
  const { info = { name: 'holdfast', version: '1' }, instructions } = options
  // oxlint-disable-next-line typescript/no-deprecated -- as above
  const server = new Server(info, {
    capabilities: { tools: {} },
    jsonSchemaValidator: nothingToValidate,
    ...(instructions === undefined ? {} : { instructions }),
  })
  // Not by the SDK's own schemas: they copy arguments and lose keys such as `__proto__` in silence,
  // which a closed schema has to refuse.
  server.fallbackRequestHandler = async ({ method, params = {} }, { signal }) => {
    switch (method) {
      case 'tools/list':
        return { tools: options.tools.map(listed) }
      case 'tools/call':
        return called(options, params, signal)
      default:
        throw new McpError(RpcErrorCode.MethodNotFound, 'Method not found')
    }
  }
  return server
}

/** A server that asks its client nothing has no answers to check; the SDK's default costs an Ajv. */
const nothingToValidate = {
  getValidator: () => () => ({
    valid: false as const,
    data: undefined,
    errorMessage: 'nothing was asked',
  }),
}

function listed(tool: InvokableTool): JsonObject {
  const { name, description, inputSchema, outputSchema, annotations } = tool.info()
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    annotations: { ...annotations },
  }
}

async function called(
  { tools, onError }: McpServerOptions,
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { name, arguments: given = {} } = params
  const tool = tools.find((candidate) => candidate.info().name === name)
  if (tool === undefined) throw new McpError(RpcErrorCode.InvalidParams, 'Unknown tool')
  try {
    const result = await tool.invoke(argumentsTextOf(given), { signal })
    const { text } = result.content[0]
    const structured = decodeJson(text)
    return {
      content: [{ type: 'text', text }],
      ...(isJsonObject(structured) ? { structuredContent: structured } : {}),
    }
  } catch (error) {
    const known = asHoldfastError(tool.info().name, error)
    onError?.(known, { toolName: tool.info().name })
    return { content: [{ type: 'text', text: modelErrorText(known) }], isError: true }
  }
}
