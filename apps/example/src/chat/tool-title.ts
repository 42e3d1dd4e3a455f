import { recordOf, textOf } from '../api/json-reader.ts'
import { humanName } from '../runs/form-model.ts'

/** How far a tool call is, for its title. */
export type ToolStage = 'running' | 'asking' | 'done' | 'failed' | 'denied'

/** What a title is made of. */
export interface ToolCall {
  readonly name: string
  /** Whole or as far as it has been written. */
  readonly input: unknown
  readonly stage: ToolStage
  readonly output?: unknown
}

/** How a tool is spoken of: present ("looking up"), past ("looked up") and infinitive ("look up"). */
interface Wording {
  readonly doing: string
  readonly did: string
  readonly infinitive: string
  /** What it is done to. */
  readonly object: (input: Readonly<Record<string, unknown>>) => string
  /** Whether a result means that it was done. Absent: each does. */
  readonly wasDone?: (output: unknown) => boolean
}

const wordings: Readonly<Record<string, Wording>> = {
  lookup_order: { doing: 'Looking up', did: 'Looked up', infinitive: 'look up', object: order },
  cancel_order: {
    doing: 'Cancelling',
    did: 'Cancelled',
    infinitive: 'cancel',
    object: order,
    wasDone: (output) => recordOf(output)?.['outcome'] === 'cancelled',
  },
  workflow_definition_list: {
    doing: 'Looking at',
    did: 'Looked at',
    infinitive: 'look at',
    object: () => 'the workflows there are',
  },
  workflow_run_start: {
    doing: 'Starting',
    did: 'Started',
    infinitive: 'start',
    object: (input) => spoken(input['definition_name'], 'a workflow'),
  },
  workflow_run_get: { doing: 'Looking at', did: 'Looked at', infinitive: 'look at', object: run },
  workflow_run_list: {
    doing: 'Listing',
    did: 'Listed',
    infinitive: 'list',
    object: () => 'the runs',
  },
  workflow_run_resume: { doing: 'Answering', did: 'Answered', infinitive: 'answer', object: run },
  workflow_run_cancel: { doing: 'Stopping', did: 'Stopped', infinitive: 'stop', object: run },
  workflow_run_history: {
    doing: 'Reading the history of',
    did: 'Read the history of',
    infinitive: 'read the history of',
    object: run,
  },
}

/** What a tool call does or did, as a person says it: "Looked up order 1001". */
export function toolTitle({ name, input, stage, output }: ToolCall): string {
  const wording = wordings[name]
  if (wording === undefined) return unknownTitle(humanName(name), stage)
  const object = wording.object(recordOf(input) ?? {})
  switch (stage) {
    case 'running':
      return `${wording.doing} ${object}…`
    case 'asking':
      return `May I ${wording.infinitive} ${object}?`
    case 'done':
      return wording.wasDone?.(output) === false
        ? `Did not ${wording.infinitive} ${object}`
        : `${wording.did} ${object}`
    case 'failed':
      return `Could not ${wording.infinitive} ${object}`
    case 'denied':
      return `Was not allowed to ${wording.infinitive} ${object}`
  }
}

/** The last characters of a run's id: enough for a person to tell runs apart. */
export function shortId(id: string): string {
  return id.length > 8 ? `…${id.slice(-6)}` : id
}

function unknownTitle(title: string, stage: ToolStage): string {
  switch (stage) {
    case 'running':
      return `${title}…`
    case 'asking':
      return `May I use “${title}”?`
    case 'done':
      return title
    case 'failed':
      return `${title} failed`
    case 'denied':
      return `${title} was not allowed`
  }
}

function order(input: Readonly<Record<string, unknown>>): string {
  const id = textOf(input['order_id'])
  return id === undefined ? 'an order' : `order ${id}`
}

function run(input: Readonly<Record<string, unknown>>): string {
  const id = textOf(input['run_id'])
  return id === undefined ? 'a run' : `run ${shortId(id)}`
}

function spoken(name: unknown, otherwise: string): string {
  const text = textOf(name)
  return text === undefined ? otherwise : humanName(text).toLowerCase()
}
