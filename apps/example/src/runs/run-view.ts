import { listOf, numberOf, recordOf, textOf, timeOf } from '../api/json-reader.ts'

const statuses = ['pending', 'running', 'interrupted', 'completed', 'cancelled', 'failed'] as const

/** The states of a run. */
export type RunStatus = (typeof statuses)[number]

/** A question that a run waits with. */
export interface Question {
  readonly id: string
  readonly reason?: string
  readonly payload?: unknown
  /** The JSON schema of the answer. Absent: anything may be answered. */
  readonly schema?: unknown
}

/** How far a run says it is. */
export interface Progress {
  readonly completed: number
  /** Absent: nobody knows. */
  readonly total?: number
  readonly message?: string
}

/** A run as the panel shows it. */
export interface RunView {
  readonly id: string
  readonly definition: string
  readonly version: string
  readonly status: RunStatus
  readonly summary?: string
  readonly waitingFor?: string
  readonly isCancelRequested: boolean
  readonly progress?: Progress
  readonly questions: readonly Question[]
  readonly error?: string
  readonly output?: unknown
  readonly parentId?: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** Reads a run from the server's JSON; `undefined` when it is none. */
export function runViewFrom(value: unknown): RunView | undefined {
  const run = recordOf(value)
  const id = textOf(run?.['run_id'])
  const status = statuses.find((known) => known === run?.['run_status'])
  if (run === undefined || id === undefined || status === undefined) return undefined
  const createdAt = timeOf(run['created_at']) ?? 0
  return {
    id,
    definition: textOf(run['definition_name']) ?? 'workflow',
    version: textOf(run['definition_version']) ?? '',
    status,
    isCancelRequested: run['cancel_requested'] === true,
    questions: listOf(run['interrupts']).flatMap((entry) => questionFrom(entry) ?? []),
    createdAt,
    updatedAt: timeOf(run['updated_at']) ?? createdAt,
    ...optional('summary', textOf(run['status_summary'])),
    ...optional('waitingFor', textOf(run['waiting_for'])),
    ...optional('progress', progressFrom(run['progress'])),
    ...optional('error', textOf(recordOf(run['error'])?.['message'])),
    ...optional('output', run['output']),
    ...optional('parentId', textOf(run['parent_run_id'])),
  }
}

/** Whether the run can still do something. */
export function isActive({ status }: Pick<RunView, 'status'>): boolean {
  return status === 'pending' || status === 'running' || status === 'interrupted'
}

function questionFrom(value: unknown): Question | undefined {
  const interrupt = recordOf(value)
  const id = textOf(interrupt?.['id'])
  if (interrupt === undefined || id === undefined) return undefined
  return {
    id,
    ...optional('reason', textOf(interrupt['reason'])),
    ...optional('payload', interrupt['payload']),
    ...optional('schema', interrupt['schema']),
  }
}

/** What the definition says of itself counts; else the steps that were counted. */
function progressFrom(value: unknown): Progress | undefined {
  const progress = recordOf(value)
  if (progress === undefined) return undefined
  const own = numberOf(progress['completed'])
  const completed = own ?? numberOf(progress['completed_steps'])
  const total = numberOf(progress[own === undefined ? 'total_steps' : 'total'])
  const message = textOf(progress['message'])
  if (completed === undefined && message === undefined) return undefined
  return {
    completed: completed ?? 0,
    ...optional('total', total !== undefined && total > 0 ? total : undefined),
    ...optional('message', message),
  }
}

function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]: Value })
}
