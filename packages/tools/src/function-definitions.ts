import type { InvokableTool, JsonObject } from '@holdfast/core'

/** A function as the OpenAI chat completions API is told of it. */
export interface OpenAiFunctionDefinition {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description: string
    readonly parameters: JsonObject
  }
}

/** A tool as the Anthropic messages API is told of it. */
export interface AnthropicToolDefinition {
  readonly name: string
  readonly description: string
  readonly input_schema: JsonObject
}

/** The tools as plain JSON for a request to OpenAI, or to whoever speaks its API. */
export function toFunctionDefinitions(
  tools: readonly InvokableTool[],
  provider: 'openai',
): readonly OpenAiFunctionDefinition[]
/** The tools as plain JSON for a request to Anthropic. */
export function toFunctionDefinitions(
  tools: readonly InvokableTool[],
  provider: 'anthropic',
): readonly AnthropicToolDefinition[]
export function toFunctionDefinitions(
  tools: readonly InvokableTool[],
  provider: 'openai' | 'anthropic',
): readonly (OpenAiFunctionDefinition | AnthropicToolDefinition)[] {
  return tools.map((tool) => {
    const { name, description, inputSchema } = tool.info()
    switch (provider) {
      case 'openai':
        return { type: 'function', function: { name, description, parameters: inputSchema } }
      case 'anthropic':
        return { name, description, input_schema: inputSchema }
    }
  })
}
