import {
  isCancelRequested,
  isTerminal,
  Limits,
  unansweredInterrupts,
  visibleStatus,
} from '@holdfast/core'
import type { JsonObject, JsonValue, OpenInterrupt, RunError, StoredRun } from '@holdfast/core'
import { checkJsonValue } from '@holdfast/json'
import { boundedText, documentBytes } from './fit-result.ts'
import { progressView, progressSchema } from './run-progress.ts'

const nameBytes = 64
const reasonBytes = 1_024
const errorMessageBytes = 512

/** What a result may leave out to fit, in the order in which it is left out. */
const reductions = [
  'interrupt_schemas',
  'interrupt_payloads',
  'artifacts',
  'output',
  'interrupt_reasons',
  'interrupts',
] as const

type Part = (typeof reductions)[number]

/** What a view of a run holds beside what its row and head say. */
export interface RunViewOptions {
  /** Of the result's text. */
  readonly maxBytes: number
  /** Only where the definition lets models see it. */
  readonly output?: JsonValue
  /** Whether questions are shown with payload and schema. */
  readonly showsQuestions: boolean
  /** The schema of answers to questions that have none of their own. */
  readonly resumeSchema?: JsonObject
  /** What the model should do now, where that is wanted. */
  readonly advice?: string
}

/**
 * What a model may see of a run, within a bound.
 *
 * Metadata, open questions, progress and a safe error: never its input, state, chunks or anything
 * that its definition did not mark for models. What did not fit is named in `truncated`.
 */
export function runView(run: StoredRun, options: RunViewOptions): JsonObject {
  for (const kept of reductions.keys()) {
    const view = render(run, options, new Set(reductions.slice(0, kept)))
    if (documentBytes(view) <= options.maxBytes) return view
  }
  return render(run, options, new Set(reductions))
}

function render(run: StoredRun, options: RunViewOptions, left: ReadonlySet<Part>): JsonObject {
  const { record, journalNext } = run
  const status = visibleStatus(run)
  const open = isTerminal(status) ? [] : unansweredInterrupts(run)
  const missing = new Set<Part>()
  const interrupts = left.has('interrupts')
    ? []
    : open.map((interrupt) => interruptView(interrupt, options, left, missing))
  if (left.has('interrupts') && open.length > 0) missing.add('interrupts')
  if (left.has('artifacts') && record.artifacts.length > 0) missing.add('artifacts')
  if (left.has('output') && options.output !== undefined) missing.add('output')
  const progress = progressView(run)
  return {
    run_id: record.id,
    definition_name: boundedText(record.definition.name, nameBytes),
    definition_version: boundedText(record.definition.version, nameBytes),
    run_status: status,
    ...ifText('status_summary', record.statusSummary, Limits.statusSummaryBytes),
    ...(status === 'running' && record.waitingFor !== undefined
      ? { waiting_for: record.waitingFor }
      : {}),
    ...(isCancelRequested(run) ? { cancel_requested: true } : {}),
    checkpoint_revision: Math.max(0, journalNext - 1),
    activity_cursor: journalNext,
    ...(progress === undefined ? {} : { progress }),
    ...(interrupts.length === 0 ? {} : { interrupts }),
    ...(record.error === undefined ? {} : { error: errorView(record.error) }),
    ...(options.output === undefined || left.has('output') ? {} : { output: options.output }),
    ...(record.parentRunId === undefined ? {} : { parent_run_id: record.parentRunId }),
    ...(record.artifacts.length === 0 || left.has('artifacts')
      ? {}
      : {
          artifacts: record.artifacts.map(({ id, kind, digest, size }) => ({
            id,
            kind,
            digest,
            size,
          })),
        }),
    created_at: timeText(record.createdAt),
    updated_at: timeText(record.updatedAt),
    ...(options.advice === undefined ? {} : { advice: options.advice }),
    ...(missing.size === 0 ? {} : { truncated: reductions.filter((part) => missing.has(part)) }),
  }
}

function interruptView(
  interrupt: OpenInterrupt,
  { showsQuestions, resumeSchema }: RunViewOptions,
  left: ReadonlySet<Part>,
  missing: Set<Part>,
): JsonObject {
  const schema = showsQuestions ? (jsonOf(interrupt.schema) ?? resumeSchema) : undefined
  const payload = showsQuestions ? jsonOf(interrupt.payload) : undefined
  if (schema !== undefined && left.has('interrupt_schemas')) missing.add('interrupt_schemas')
  if (payload !== undefined && left.has('interrupt_payloads')) missing.add('interrupt_payloads')
  if (interrupt.reason !== undefined && left.has('interrupt_reasons')) {
    missing.add('interrupt_reasons')
  }
  return {
    id: boundedText(interrupt.id, nameBytes),
    answer: interrupt.answer,
    ...(left.has('interrupt_reasons') ? {} : ifText('reason', interrupt.reason, reasonBytes)),
    ...(payload === undefined || left.has('interrupt_payloads') ? {} : { payload }),
    ...(schema === undefined || left.has('interrupt_schemas') ? {} : { schema }),
  }
}

/** A part of a record that only JSON may be in; anything else is not shown. */
function jsonOf(value: unknown): JsonValue | undefined {
  if (value === undefined) return undefined
  try {
    return checkJsonValue(value)
  } catch {
    return undefined
  }
}

function errorView({ code, message, retryable }: RunError): JsonObject {
  return {
    code: boundedText(code, nameBytes),
    message: boundedText(message, errorMessageBytes),
    retryable,
  }
}

function ifText(name: string, text: string | undefined, maxBytes: number): JsonObject {
  return text === undefined || text === '' ? {} : { [name]: boundedText(text, maxBytes) }
}

/** A time as RFC 3339 in UTC. */
export function timeText(millisecondsSinceEpoch: number): string {
  return new Date(millisecondsSinceEpoch).toISOString()
}

const text: JsonObject = { type: 'string' }
const wholeNumber: JsonObject = { type: 'integer', minimum: 0 }
const flag: JsonObject = { type: 'boolean' }

function closed(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: 'object', properties, required: [...required], additionalProperties: false }
}

/** The statuses of a run as results show them. */
export const runStatusSchema: JsonObject = {
  type: 'string',
  enum: ['pending', 'running', 'interrupted', 'completed', 'cancelled', 'failed'],
}

/** What {@link runView} gives. */
export const runViewSchema: JsonObject = closed(
  {
    run_id: text,
    definition_name: text,
    definition_version: text,
    run_status: runStatusSchema,
    status_summary: text,
    waiting_for: { type: 'string', enum: ['sleep', 'message', 'child', 'retry', 'code'] },
    cancel_requested: flag,
    checkpoint_revision: wholeNumber,
    activity_cursor: wholeNumber,
    progress: progressSchema,
    interrupts: {
      type: 'array',
      items: closed(
        {
          id: text,
          answer: { type: 'string', enum: ['person', 'anyone'] },
          reason: text,
          payload: {},
          schema: {},
        },
        ['id', 'answer'],
      ),
    },
    error: closed({ code: text, message: text, retryable: flag }, ['code', 'message', 'retryable']),
    output: {},
    parent_run_id: text,
    artifacts: {
      type: 'array',
      items: closed({ id: text, kind: text, digest: text, size: wholeNumber }, [
        'id',
        'kind',
        'digest',
        'size',
      ]),
    },
    created_at: text,
    updated_at: text,
    advice: text,
    truncated: { type: 'array', items: { type: 'string', enum: [...reductions] } },
  },
  [
    'run_id',
    'definition_name',
    'definition_version',
    'run_status',
    'checkpoint_revision',
    'activity_cursor',
    'created_at',
    'updated_at',
  ],
)
