export { createMcpServer } from './mcp-server.ts'
export type { McpServerInfo, McpServerOptions } from './mcp-server.ts'
export { createMcpHandler } from './mcp-handler.ts'
export type { McpHandler, McpHandlerOptions, McpSession } from './mcp-handler.ts'
