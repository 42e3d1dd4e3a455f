import type { LanguageModelV4GenerateResult, LanguageModelV4StreamPart } from '@ai-sdk/provider'

/** A whole answer as the parts that a stream would have had, so that one collector serves both. */
export function* partsOfGenerated(
  result: LanguageModelV4GenerateResult,
): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: result.warnings }
  const { id, modelId, timestamp } = result.response ?? {}
  yield {
    type: 'response-metadata',
    ...(id === undefined ? {} : { id }),
    ...(modelId === undefined ? {} : { modelId }),
    ...(timestamp === undefined ? {} : { timestamp }),
  }
  for (const [index, part] of result.content.entries()) {
    if (part.type !== 'text' && part.type !== 'reasoning') {
      yield part
      continue
    }
    const block = String(index)
    const { type, text, providerMetadata } = part
    const metadata = providerMetadata === undefined ? {} : { providerMetadata }
    yield { type: `${type}-start`, id: block, ...metadata }
    yield { type: `${type}-delta`, id: block, delta: text }
    const cited =
      part.type === 'text' && part.citations !== undefined ? { citations: part.citations } : {}
    yield { type: `${type}-end`, id: block, ...cited }
  }
  const { finishReason, usage, providerMetadata } = result
  const metadata = providerMetadata === undefined ? {} : { providerMetadata }
  yield { type: 'finish', finishReason, usage, ...metadata }
}
