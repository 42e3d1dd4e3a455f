// #region stdio
import type { InvokableTool } from '@holdfast/core'
import { createMcpServer } from '@holdfast/tools/mcp'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'

/** Serves one session's tools to the program that started this process. */
export async function serveOverStdio(tools: readonly InvokableTool[]) {
  const server = createMcpServer({ tools, info: { name: 'order-desk', version: '1' } })
  await server.connect(new StdioServerTransport())
}
// #endregion stdio

// #region http
import type { Catalog, RunReader, SessionId, Supervisors } from '@holdfast/core'
import { createWorkflowTools } from '@holdfast/tools'
import { createMcpHandler } from '@holdfast/tools/mcp'

/** Serves each session's tools over HTTP; `sessionOf` reads a cookie or a bearer token. */
export function mcpEndpoint(
  { catalog, runs, supervisors }: { catalog: Catalog; runs: RunReader; supervisors: Supervisors },
  sessionOf: (request: Request) => SessionId | undefined,
) {
  return createMcpHandler({
    authorize(request) {
      const sessionId = sessionOf(request)
      if (sessionId === undefined) return undefined
      const supervisor = supervisors.session(sessionId)
      return { sessionId, tools: createWorkflowTools({ sessionId, catalog, runs, supervisor }) }
    },
  })
}
// #endregion http
