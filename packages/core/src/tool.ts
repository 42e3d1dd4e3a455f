import type { JsonObject } from './json-value.ts'
import type { RunId } from './ids.ts'

/** What a model is told of a tool. */
export interface ToolInfo {
  readonly name: string
  /** At most 256 bytes. */
  readonly description: string
  /** Closed JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  /** MCP's words: what a client may assume. */
  readonly annotations: {
    readonly readOnlyHint: boolean
    readonly destructiveHint: boolean
    readonly idempotentHint: boolean
    readonly openWorldHint: boolean
  }
}

/** A tool's answer: always one text block that holds one JSON document. */
export interface ToolResult {
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }]
}

/** How a tool is called. */
export interface ToolInvocation {
  readonly signal?: AbortSignal
  /** Makes a repeat of this call (after a crash, say) find what the first one did. */
  readonly idempotencyKey?: string
  /** The run in which the calling model acts: it and its ancestors cannot be resumed or cancelled. */
  readonly callerRunId?: RunId
}

/** A tool over JSON text. */
export interface InvokableTool {
  /** A fresh copy each time. */
  info(): ToolInfo
  /** @throws HoldfastError with a safe message */
  invoke(argumentsJson: string, invocation?: ToolInvocation): Promise<ToolResult>
}
