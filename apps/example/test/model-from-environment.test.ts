import { describe, expect, test } from 'vitest'
import { modelFromEnvironment } from '../server/model-from-environment.ts'

describe('the model by environment', () => {
  test('is the demo, and says so, when nothing is set', () => {
    expect(modelFromEnvironment({})).toMatchObject({ isDemo: true })
  })

  test('is any OpenAI-compatible server by its base URL', () => {
    const { model, isDemo } = modelFromEnvironment({
      OPENAI_BASE_URL: 'http://127.0.0.1:11434/v1',
      HOLDFAST_MODEL: 'llama3.2',
    })
    expect(isDemo).toBe(false)
    expect(model.modelId).toBe('llama3.2')
  })

  test('is Anthropic by its key', () => {
    const { model } = modelFromEnvironment({ ANTHROPIC_API_KEY: 'key', HOLDFAST_MODEL: 'm' })
    expect(model.provider).toContain('anthropic')
  })
})
