// What the engine tells a host's telemetry. Names and units follow OpenTelemetry: durations are
// histograms in seconds, `error.type` says why something failed, ids are on spans alone.
//
// | span | metric |
// |---|---|
// | `holdfast.run`: one execution of a run in this process | `holdfast.run.duration` |
// | `holdfast.step`: one attempt | `holdfast.step.duration` |
// | `holdfast.interrupt`: a question, from its opening to its answer | `holdfast.interrupt.duration` |
// | `holdfast.recovery`: a run is taken up, until its journal is replayed | `holdfast.recovery.duration` |
// | `holdfast.store.commit`: a commit of a run, with its repeats | `holdfast.store.commit.duration` |
// | | `holdfast.slot.wait.duration`, `holdfast.slots.held` (up and down), `holdfast.runs.started`, `holdfast.runs.ended`, `holdfast.store.commit.retries` |
import { isHoldfastError } from '@holdfast/core'
import type { JsonObject, Log, RunRecord, Span, System, Telemetry } from '@holdfast/core'

/** A host's telemetry, with the spans of the runs that execute here. */
export interface EngineTelemetry extends Telemetry {
  readonly runs: Map<string, Span>
}

/** Work that is under way: a span now, and a duration at its end. */
export interface Timed {
  readonly span: Span
  /** With an error when it failed. Only the first call counts. */
  end(error?: unknown, attributes?: JsonObject): void
}

/** What work is told of. */
export interface TimedWork {
  readonly name: string
  /** Few values: for the span and the metric. */
  readonly labels: JsonObject
  /** For the span alone. */
  readonly ids?: JsonObject
  readonly parent?: Span | undefined
  /** When it began, if not now. Milliseconds since the epoch. */
  readonly since?: number
}

/** Telemetry that can do no harm: what it throws is logged, once. `undefined` when there is none. */
export function guardedTelemetry(
  telemetry: Telemetry | undefined,
  log: Log,
): EngineTelemetry | undefined {
  if (telemetry === undefined) return undefined
  let hasFailed = false
  const guarded = (act: () => void): void => {
    try {
      act()
    } catch (cause) {
      if (hasFailed) return
      hasFailed = true
      log.write({
        level: 'warn',
        event: 'engine.telemetry.failed',
        message: 'Telemetry failed; what it failed to take is lost.',
        cause,
      })
    }
  }
  const spans = new WeakMap<Span, Span>()
  return {
    runs: new Map(),
    startSpan(name, attributes, parent) {
      let span: Span | undefined
      guarded(() => {
        // A parent is handed back as the host's own.
        span = telemetry.startSpan(name, attributes, parent && spans.get(parent))
      })
      const harmless: Span = {
        setAttributes: (more) => guarded(() => span?.setAttributes(more)),
        end: (error) => guarded(() => span?.end(error)),
      }
      if (span !== undefined) spans.set(harmless, span)
      return harmless
    },
    count: (name, value, attributes) => guarded(() => telemetry.count(name, value, attributes)),
    record: (name, value, attributes) => guarded(() => telemetry.record(name, value, attributes)),
  }
}

/** Times work, when somebody listens. */
export function timed(
  services: { readonly telemetry: EngineTelemetry | undefined; readonly system: System },
  work: () => TimedWork,
): Timed | undefined {
  const { telemetry, system } = services
  if (telemetry === undefined) return undefined
  const { name, labels, ids = {}, parent, since = system.now() } = work()
  const span = telemetry.startSpan(name, { ...labels, ...ids }, parent)
  let isOver = false
  return {
    span,
    end(error, attributes = {}) {
      if (isOver) return
      isOver = true
      const failure = error === undefined ? {} : { 'error.type': errorType(error) }
      span.setAttributes({ ...attributes, ...failure })
      span.end(error)
      const seconds = Math.max(0, system.now() - since) / 1_000
      telemetry.record(`${name}.duration`, seconds, { ...labels, ...attributes, ...failure })
    },
  }
}

/** What says of a run which workflow it is of. */
export function workflowLabels(record: {
  readonly definition: Pick<RunRecord['definition'], 'name' | 'version'>
}): JsonObject {
  const { name, version } = record.definition
  return { 'holdfast.workflow.name': name, 'holdfast.workflow.version': version }
}

/** A run was created by this process. */
export function tellStarted(
  { telemetry }: { readonly telemetry: EngineTelemetry | undefined },
  record: RunRecord,
): void {
  telemetry?.count('holdfast.runs.started', 1, workflowLabels(record))
}

/** Which run, for spans. */
export function runIds(run: { readonly sessionId: string; readonly runId: string }): JsonObject {
  return { 'holdfast.session.id': run.sessionId, 'holdfast.run.id': run.runId }
}

function errorType(error: unknown): string {
  if (isHoldfastError(error)) return error.code
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code)
  return error instanceof Error ? error.name : '_OTHER'
}
