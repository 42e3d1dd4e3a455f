import type { StepResultPerformance } from 'ai'
import type { ModelCallRecord } from './model-call-record.ts'
import type { ToolOutcome } from './tool-outcome.ts'

/** How fast a step was, from what was recorded: a replay gives the same. */
export function stepPerformance(
  record: ModelCallRecord,
  outcomes: ReadonlyMap<string, ToolOutcome>,
  stepTimeMs: number,
): StepResultPerformance {
  const { responseMs = 0, firstOutputMs } = record.timing ?? {}
  const { inputTokens, outputTokens } = record.usage
  const given = outputTokens.total ?? 0
  const toolExecutionMs: Record<string, number> = {}
  for (const [toolCallId, outcome] of outcomes) {
    if (!('executionMs' in outcome) || outcome.executionMs === undefined) continue
    toolExecutionMs[toolCallId] = outcome.executionMs
  }
  return {
    effectiveOutputTokensPerSecond: perSecond(given, responseMs) ?? 0,
    outputTokensPerSecond:
      firstOutputMs === undefined ? undefined : perSecond(given, responseMs - firstOutputMs),
    inputTokensPerSecond:
      firstOutputMs === undefined || inputTokens.total === undefined
        ? undefined
        : perSecond(inputTokens.total, firstOutputMs),
    effectiveTotalTokensPerSecond: perSecond(given + (inputTokens.total ?? 0), responseMs) ?? 0,
    stepTimeMs,
    responseTimeMs: responseMs,
    toolExecutionMs,
    timeToFirstOutputMs: firstOutputMs,
  }
}

function perSecond(tokens: number, milliseconds: number): number | undefined {
  return milliseconds > 0 ? (tokens * 1_000) / milliseconds : undefined
}
