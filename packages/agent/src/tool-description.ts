import type { ToolSet } from '@ai-sdk/provider-utils'
import { plainObject } from './plain-json.ts'
import type { JsonObject } from '@holdfast/core'

/** What a page is told of a tool besides its name; the same in every chunk of a call. */
export interface ToolDescription {
  readonly dynamic?: boolean
  readonly title?: string
  readonly toolMetadata?: JsonObject
}

/** Describes a tool. A name that no tool has describes nothing. */
export function describeTool(tools: ToolSet, toolName: string): ToolDescription {
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined
  if (tool === undefined) return {}
  return {
    ...(tool.type === 'dynamic' ? { dynamic: true } : {}),
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.metadata === undefined ? {} : { toolMetadata: plainObject(tool.metadata) }),
  }
}
