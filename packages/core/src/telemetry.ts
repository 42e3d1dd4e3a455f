import type { JsonObject } from './json-value.ts'

/** One piece of work that takes time. Attribute names are OpenTelemetry's. */
export interface Span {
  setAttributes(attributes: JsonObject): void
  /** Ends it; with an error when it failed. Only the first call counts. */
  end(error?: unknown): void
}

/** Where spans and metrics go. Nothing is computed for it when a host gives none. */
export interface Telemetry {
  startSpan(name: string, attributes?: JsonObject, parent?: Span): Span
  count(name: string, value: number, attributes?: JsonObject): void
  record(name: string, value: number, attributes?: JsonObject): void
}
