import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModelV4 } from '@ai-sdk/provider'
import { configurationInvalid } from '@holdfast/core'
import { demoModel } from './demo-model.ts'
import { numberSetting, textSetting } from './settings.ts'
import type { Environment } from './settings.ts'

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
 *
 * @throws `configuration_invalid`
 */
export function modelFromEnvironment(environment: Environment): ChosenModel {
  const name = textSetting(environment, 'HOLDFAST_MODEL')
  const baseURL = urlSetting(environment, 'OPENAI_BASE_URL')
  const openAiKey = textSetting(environment, 'OPENAI_API_KEY')
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
  const anthropicKey = textSetting(environment, 'ANTHROPIC_API_KEY')
  if (anthropicKey !== undefined) {
    const chosen = name ?? 'claude-sonnet-4-5'
    return {
      model: createAnthropic({ apiKey: anthropicKey })(chosen),
      name: chosen,
      isDemo: false,
    }
  }
  const wordDelayMs = numberSetting(environment, 'HOLDFAST_DEMO_DELAY_MS', 30, 60_000)
  return { model: demoModel({ wordDelayMs }), name: 'offline demo', isDemo: true }
}

function urlSetting(environment: Environment, name: string): string | undefined {
  const text = textSetting(environment, name)
  if (text === undefined || /^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw configurationInvalid(`${name} must be a URL that begins with http:// or https://.`)
}
