import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider'

/** Why a model stopped, in the words that all providers share. */
export type FinishReason = LanguageModelV4FinishReason['unified']

/** Tokens of one or several model calls. What a provider did not report is `undefined`. */
export interface Usage {
  readonly inputTokens: number | undefined
  readonly inputTokenDetails: {
    readonly noCacheTokens: number | undefined
    readonly cacheReadTokens: number | undefined
    readonly cacheWriteTokens: number | undefined
  }
  readonly outputTokens: number | undefined
  readonly outputTokenDetails: {
    readonly textTokens: number | undefined
    readonly reasoningTokens: number | undefined
  }
  readonly totalTokens: number | undefined
}

/** Usage of nothing: what sums begin with. */
export const noUsage: Usage = usageFromModel({
  inputTokens: {
    total: undefined,
    noCache: undefined,
    cacheRead: undefined,
    cacheWrite: undefined,
  },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
})

/** A model's usage in the shape of results. The total is the sum of what is known. */
export function usageFromModel(usage: ReportedUsage): Usage {
  const { inputTokens, outputTokens } = usage
  return {
    inputTokens: inputTokens.total,
    inputTokenDetails: {
      noCacheTokens: inputTokens.noCache,
      cacheReadTokens: inputTokens.cacheRead,
      cacheWriteTokens: inputTokens.cacheWrite,
    },
    outputTokens: outputTokens.total,
    outputTokenDetails: {
      textTokens: outputTokens.text,
      reasoningTokens: outputTokens.reasoning,
    },
    totalTokens: sum(inputTokens.total, outputTokens.total),
  }
}

/** The sum, detail by detail; a detail that neither side knows stays unknown. */
export function addUsage(left: Usage, right: Usage): Usage {
  return {
    inputTokens: sum(left.inputTokens, right.inputTokens),
    inputTokenDetails: {
      noCacheTokens: sum(
        left.inputTokenDetails.noCacheTokens,
        right.inputTokenDetails.noCacheTokens,
      ),
      cacheReadTokens: sum(
        left.inputTokenDetails.cacheReadTokens,
        right.inputTokenDetails.cacheReadTokens,
      ),
      cacheWriteTokens: sum(
        left.inputTokenDetails.cacheWriteTokens,
        right.inputTokenDetails.cacheWriteTokens,
      ),
    },
    outputTokens: sum(left.outputTokens, right.outputTokens),
    outputTokenDetails: {
      textTokens: sum(left.outputTokenDetails.textTokens, right.outputTokenDetails.textTokens),
      reasoningTokens: sum(
        left.outputTokenDetails.reasoningTokens,
        right.outputTokenDetails.reasoningTokens,
      ),
    },
    totalTokens: sum(left.totalTokens, right.totalTokens),
  }
}

/** A model's usage as it is reported or was recorded: a detail may be absent. */
export interface ReportedUsage {
  readonly inputTokens: Partial<LanguageModelV4Usage['inputTokens']>
  readonly outputTokens: Partial<LanguageModelV4Usage['outputTokens']>
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined) return right
  return right === undefined ? left : left + right
}
