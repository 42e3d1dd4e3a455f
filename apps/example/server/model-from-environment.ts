import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { demoModel } from './demo-model.ts'

/** Which model answers, and what the page says of it. */
export interface ChosenModel {
  readonly model: LanguageModelV4
  readonly name: string
  /** True for the rule-based demo, which the page must say. */
  readonly isDemo: boolean
}

/**
 * Chooses the model by environment: `OPENAI_BASE_URL` (with `OPENAI_API_KEY`) for any server that
 * speaks OpenAI's chat completions, `ANTHROPIC_API_KEY` for Anthropic, else the offline demo.
 * `HOLDFAST_MODEL` names it.
 */
export function modelFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): ChosenModel {
  const name = environment['HOLDFAST_MODEL']
  const baseURL = environment['OPENAI_BASE_URL']
  const openAiKey = environment['OPENAI_API_KEY']
  if (baseURL !== undefined || openAiKey !== undefined) {
    const provider = createOpenAICompatible({
      name: 'openai-compatible',
      baseURL: baseURL ?? 'https://api.openai.com/v1',
      ...(openAiKey === undefined ? {} : { apiKey: openAiKey }),
      includeUsage: true,
    })
    const chosen = name ?? 'gpt-4o-mini'
    return { model: provider.chatModel(chosen), name: chosen, isDemo: false }
  }
  const anthropicKey = environment['ANTHROPIC_API_KEY']
  if (anthropicKey !== undefined) {
    const chosen = name ?? 'claude-sonnet-4-5'
    return {
      model: createAnthropic({ apiKey: anthropicKey })(chosen),
      name: chosen,
      isDemo: false,
    }
  }
  const wordDelayMs = Number(environment['HOLDFAST_DEMO_DELAY_MS'] ?? 30)
  return { model: demoModel({ wordDelayMs }), name: 'offline demo', isDemo: true }
}
