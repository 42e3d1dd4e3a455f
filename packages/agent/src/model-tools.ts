import type {
  JSONObject,
  LanguageModelV4FunctionTool,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'
import { asSchema } from '@ai-sdk/provider-utils'
import type { ToolSet } from '@ai-sdk/provider-utils'
import type { ToolChoice } from './settings.ts'

/** The tools that a step may use: those whose names are listed, or all when no list is given. */
export function activeToolsOf(tools: ToolSet, names: readonly string[] | undefined): ToolSet {
  if (names === undefined) return tools
  return Object.fromEntries(Object.entries(tools).filter(([name]) => names.includes(name)))
}

/** Tools as a provider takes them. */
export async function modelTools(
  tools: ToolSet,
  toolsContext: Readonly<Record<string, unknown>>,
): Promise<(LanguageModelV4FunctionTool | LanguageModelV4ProviderTool)[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]) => {
      if (tool.type === 'provider') {
        return { type: 'provider' as const, id: tool.id, name, args: tool.args }
      }
      const description = describe(tool, toolsContext[name])
      return {
        type: 'function' as const,
        name,
        ...(description === undefined ? {} : { description }),
        inputSchema: await asSchema(tool.inputSchema).jsonSchema,
        ...(tool.inputExamples === undefined
          ? {}
          : { inputExamples: tool.inputExamples as { input: JSONObject }[] }),
        ...(tool.strict === undefined ? {} : { strict: tool.strict }),
        ...(tool.providerOptions === undefined ? {} : { providerOptions: tool.providerOptions }),
      }
    }),
  )
}

/** The choice as a provider takes it. */
export function modelToolChoice(choice: ToolChoice | undefined): LanguageModelV4ToolChoice {
  if (choice === undefined) return { type: 'auto' }
  return typeof choice === 'string' ? { type: choice } : choice
}

function describe(tool: ToolSet[string], context: unknown): string | undefined {
  const { description } = tool
  return typeof description === 'function' ? description({ context }) : description
}
