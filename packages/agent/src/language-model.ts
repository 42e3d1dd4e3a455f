import type {
  LanguageModelV2,
  LanguageModelV2StreamPart,
  LanguageModelV2Usage,
  LanguageModelV3,
  LanguageModelV3StreamPart,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4Usage,
  SharedV4FileData,
} from '@ai-sdk/provider'
import { convertToBase64 } from '@ai-sdk/provider-utils'
import { configurationInvalid } from '@holdfast/core'

/** A model object of any version of AI SDK's specification, or an id that a provider resolves. */
export type LanguageModel = string | LanguageModelV4 | LanguageModelV3 | LanguageModelV2

/** What the loop needs of a model, in the newest form. */
export interface CallableModel {
  readonly provider: string
  readonly modelId: string
  /** URLs that the model fetches by itself. */
  supportedUrls(): PromiseLike<Readonly<Record<string, RegExp[]>>>
  generate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult>
  stream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult>
}

/** Finds the model object of an id. */
export type ModelResolver = (modelId: string) => LanguageModelV4 | LanguageModelV3 | LanguageModelV2

/**
 * The model as the loop calls it. V2 and V3 models are adapted: prompts and files down, usage, finish
 * reasons and files up.
 *
 * @throws `configuration_invalid` no model, an id that nothing resolves, or an unknown version
 */
export function callableModel(model: LanguageModel, resolve?: ModelResolver): CallableModel {
  const found = typeof model === 'string' ? modelById(model, resolve) : model
  const { provider, modelId } = found
  if (typeof provider !== 'string' || typeof modelId !== 'string') {
    throw configurationInvalid('The model must name its provider and model id.')
  }
  if (found.specificationVersion === 'v4') {
    return {
      provider,
      modelId,
      supportedUrls: async () => found.supportedUrls,
      generate: async (options) => found.doGenerate(options),
      stream: async (options) => found.doStream(options),
    }
  }
  if (found.specificationVersion === 'v3' || found.specificationVersion === 'v2') {
    return adaptedModel(found)
  }
  throw configurationInvalid(`Model ${provider}/${modelId} has a version that is not supported.`)
}

function modelById(
  modelId: string,
  resolve: ModelResolver | undefined,
): Exclude<LanguageModel, string> {
  if (resolve !== undefined) return resolve(modelId)
  const { AI_SDK_DEFAULT_PROVIDER: provider } = globalThis as {
    readonly AI_SDK_DEFAULT_PROVIDER?: { languageModel(modelId: string): LanguageModelV4 }
  }
  if (provider !== undefined) return provider.languageModel(modelId)
  throw configurationInvalid(
    `Model ${modelId} is named by its id: give resolveModel, or set AI SDK's default provider.`,
  )
}

type OlderModel = LanguageModelV2 | LanguageModelV3

function adaptedModel(model: OlderModel): CallableModel {
  return {
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: async () => model.supportedUrls,
    async generate(options) {
      const result = await model.doGenerate(olderOptions(options))
      return {
        ...result,
        content: result.content.map(newerContent),
        finishReason: newerFinishReason(result.finishReason),
        usage: newerUsage(result.usage),
        warnings: result.warnings.map(newerWarning),
      } as LanguageModelV4GenerateResult
    },
    async stream(options) {
      const result = await model.doStream(olderOptions(options))
      const older: ReadableStream<LanguageModelV2StreamPart | LanguageModelV3StreamPart> =
        result.stream
      const stream = older.pipeThrough(
        new TransformStream<OlderPart, LanguageModelV4StreamPart>({
          transform: (part, controller) => controller.enqueue(newerPart(part)),
        }),
      )
      return { ...result, stream }
    },
  }
}

type OlderPart = LanguageModelV2StreamPart | LanguageModelV3StreamPart

/** The casts below are this adapter's boundary: the shapes agree but where they are converted. */
function newerPart(part: OlderPart): LanguageModelV4StreamPart {
  if (part.type === 'file') return { ...part, data: { type: 'data', data: part.data } }
  if (part.type === 'finish') {
    const finishReason = newerFinishReason(part.finishReason)
    return { ...part, finishReason, usage: newerUsage(part.usage) } as LanguageModelV4StreamPart
  }
  if (part.type === 'stream-start') {
    return { ...part, warnings: part.warnings.map(newerWarning) } as LanguageModelV4StreamPart
  }
  return part as LanguageModelV4StreamPart
}

function newerContent(
  content: Awaited<ReturnType<OlderModel['doGenerate']>>['content'][number],
): LanguageModelV4Content {
  const newer =
    content.type === 'file' ? { ...content, data: { type: 'data', data: content.data } } : content
  return newer as LanguageModelV4Content
}

function newerFinishReason(reason: string | { readonly unified: string }): unknown {
  if (typeof reason !== 'string') return reason
  return { unified: reason === 'unknown' ? 'other' : reason, raw: undefined }
}

function newerUsage(usage: LanguageModelV2Usage | LanguageModelV4Usage): LanguageModelV4Usage {
  if (isUsageOfNewerModel(usage)) return usage
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens, totalTokens } = usage
  return {
    inputTokens: {
      total: inputTokens,
      noCache: undefined,
      cacheRead: cachedInputTokens,
      cacheWrite: undefined,
    },
    outputTokens: { total: outputTokens, text: undefined, reasoning: reasoningTokens },
    ...(totalTokens === undefined ? {} : { raw: { totalTokens } }),
  }
}

function isUsageOfNewerModel(
  usage: LanguageModelV2Usage | LanguageModelV4Usage,
): usage is LanguageModelV4Usage {
  return typeof usage.inputTokens === 'object'
}

/** V2 said `unsupported-setting` and `unsupported-tool`, where the newer ones say `unsupported`. */
function newerWarning(warning: { readonly type: string }): unknown {
  if ('setting' in warning && warning.type === 'unsupported-setting') {
    return { ...warning, type: 'unsupported', feature: warning.setting }
  }
  if (warning.type === 'unsupported-tool') {
    return { ...warning, type: 'unsupported', feature: 'tool' }
  }
  return warning
}

/** Options for a V2 or V3 model. One shape serves both: V2 ignores what only V3 knows. */
function olderOptions(
  options: LanguageModelV4CallOptions,
): Parameters<LanguageModelV2['doGenerate']>[0] & Parameters<LanguageModelV3['doGenerate']>[0] {
  return { ...options, prompt: olderPrompt(options.prompt) } as Parameters<
    LanguageModelV2['doGenerate']
  >[0] &
    Parameters<LanguageModelV3['doGenerate']>[0]
}

function olderPrompt(prompt: LanguageModelV4Prompt): unknown {
  return prompt.map((message) => {
    if (message.role === 'system') return message
    return {
      ...message,
      content: message.content.map((part) => {
        switch (part.type) {
          case 'file':
          case 'reasoning-file':
            return { ...part, data: olderFileData(part.data) }
          case 'tool-result':
            return { ...part, output: olderToolOutput(part.output) }
          case 'text':
          case 'reasoning':
          case 'custom':
          case 'tool-call':
          case 'tool-approval-response':
            return part
        }
      }),
    }
  })
}

function olderFileData(data: SharedV4FileData): string | Uint8Array | URL {
  switch (data.type) {
    case 'data':
      return data.data
    case 'url':
      return data.url
    case 'text':
      return new TextEncoder().encode(data.text)
    case 'reference':
      throw configurationInvalid('This model cannot take a file by its provider reference.')
  }
}

function olderToolOutput(output: LanguageModelV4ToolResultOutput): unknown {
  if (output.type !== 'content') return output
  return {
    ...output,
    value: output.value.map((part) => {
      if (part.type !== 'file') return part
      const { mediaType, filename } = part
      switch (part.data.type) {
        case 'data':
          return { type: 'file-data', data: convertToBase64(part.data.data), mediaType, filename }
        case 'url':
          return { type: 'file-url', url: part.data.url.toString() }
        case 'reference':
          return { type: 'file-id', fileId: part.data.reference }
        case 'text':
          return { type: 'text', text: part.data.text }
      }
    }),
  }
}
