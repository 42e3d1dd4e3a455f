import type { JsonObject, Span, Telemetry } from '@holdfast/core'

/** One span, as it was told. */
export interface RecordedSpan {
  readonly name: string
  readonly attributes: Record<string, unknown>
  readonly parent: RecordedSpan | undefined
  ends: number
  error: unknown
}

/** Telemetry that keeps what it is told. */
export interface RecordingTelemetry extends Telemetry {
  readonly spans: readonly RecordedSpan[]
  readonly counts: readonly { name: string; value: number; attributes: JsonObject | undefined }[]
  readonly records: readonly { name: string; value: number; attributes: JsonObject | undefined }[]
  named(name: string): readonly RecordedSpan[]
}

export function createRecordingTelemetry(): RecordingTelemetry {
  const spans: RecordedSpan[] = []
  const counts: { name: string; value: number; attributes: JsonObject | undefined }[] = []
  const records: { name: string; value: number; attributes: JsonObject | undefined }[] = []
  const bySpan = new Map<Span, RecordedSpan>()
  return {
    spans,
    counts,
    records,
    named: (name) => spans.filter((span) => span.name === name),
    startSpan(name, attributes, parent) {
      const recorded: RecordedSpan = {
        name,
        attributes: { ...attributes },
        parent: parent === undefined ? undefined : bySpan.get(parent),
        ends: 0,
        error: undefined,
      }
      spans.push(recorded)
      const span: Span = {
        setAttributes: (more) => void Object.assign(recorded.attributes, more),
        end(error) {
          recorded.ends += 1
          recorded.error = error
        },
      }
      bySpan.set(span, recorded)
      return span
    },
    count: (name, value, attributes) => void counts.push({ name, value, attributes }),
    record: (name, value, attributes) => void records.push({ name, value, attributes }),
  }
}
