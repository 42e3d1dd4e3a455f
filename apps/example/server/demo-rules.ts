import type { JSONObject, LanguageModelV4Prompt } from '@ai-sdk/provider'

/** What the demo says and which tools it calls. */
export interface Reply {
  readonly text: string
  readonly calls: readonly ToolCall[]
}

interface ToolCall {
  readonly id: string
  readonly name: string
  readonly input: JSONObject
}

/** The results of the calls made since the last message of a person, by tool name, newest last. */
interface ToolOutcome {
  readonly name: string
  readonly ok: boolean
  readonly text: string
  readonly value: unknown
}

/** What the rules look at: the newest request, what its calls gave, and how many were made before. */
interface Situation {
  readonly request: string
  readonly outcomes: readonly ToolOutcome[]
  readonly callsBefore: number
}

const help =
  'I am the offline demo model: a handful of rules, no language model. ' +
  'Try "look up order 1001", "refund order 1002", "cancel order 1003", "write a report on kelp", ' +
  '"count from 1", "add 5 to the counter", "what is running?", "stop the report" or "count to 50 aloud".'

/** Decides what the demo answers to a conversation. Pure: the same prompt gives the same reply. */
export function decideReply(prompt: LanguageModelV4Prompt): Reply {
  const situation = situationOf(prompt)
  for (const rule of rules) {
    const match = rule.pattern.exec(situation.request)
    if (match !== null) return rule.reply(situation, match)
  }
  return say(help)
}

interface Rule {
  readonly pattern: RegExp
  readonly reply: (situation: Situation, match: RegExpExecArray) => Reply
}

const rules: readonly Rule[] = [
  {
    pattern: /\brefund\b.*?\b(\d{4,9})\b/i,
    reply: (situation, [, order = '']) =>
      startThenTell(
        situation,
        'refund_order',
        { order_id: order },
        (run) =>
          `I started the refund of order ${order} as run ${run}. Above 100 EUR it waits for a person's yes, on the card beside this chat.`,
      ),
  },
  {
    pattern: /\bcancel\b.*?\border\b.*?\b(\d{4,9})\b/i,
    reply: (situation, [, order = '']) => {
      const outcome = situation.outcomes.at(-1)
      if (outcome === undefined) {
        return call(situation, `I will cancel order ${order}, if you approve. `, 'cancel_order', {
          order_id: order,
        })
      }
      return say(
        outcome.ok
          ? `Order ${order}: ${fieldOf(outcome.value, 'outcome') ?? 'done'}.`
          : `Order ${order} was not cancelled: ${outcome.text}.`,
      )
    },
  },
  {
    pattern: /\breport\b.*?\b(?:on|about)\s+(.{1,100}?)[.!?]?$/i,
    reply: (situation, [, topic = 'kelp']) =>
      startThenTell(
        situation,
        'research_report',
        { topic },
        (run) =>
          `I started a report on ${topic} as run ${run}. It shows its progress beside this chat.`,
      ),
  },
  {
    pattern: /\bcount from (\d{1,6})\b/i,
    reply: (situation, [, from = '1']) =>
      startThenTell(
        situation,
        'counter_flow',
        { count: Number(from) },
        (run) => `The counter runs as ${run} and asks by how much to go on.`,
      ),
  },
  {
    pattern: /\badd (\d{1,6}) to the counter\b/i,
    reply: (situation, [, increment = '1']) =>
      findThenAct(situation, 'counter_flow', (run) => ({
        name: 'workflow_run_resume',
        input: { run_id: run, resume: { increment: Number(increment) } },
      })),
  },
  {
    pattern: /\bstop the (report|refund|counter)\b/i,
    reply: (situation, [, what = 'report']) => {
      const names = { report: 'research_report', refund: 'refund_order', counter: 'counter_flow' }
      const name = names[what.toLowerCase() as keyof typeof names]
      return findThenAct(situation, name, (run) => ({
        name: 'workflow_run_cancel',
        input: { run_id: run, reason: 'a person asked for it' },
      }))
    },
  },
  {
    pattern: /\bwhat(?:'s| is) running\b/i,
    reply: (situation) => {
      const outcome = situation.outcomes.at(-1)
      if (outcome === undefined)
        return call(situation, 'Let me look. ', 'workflow_run_list', activeRuns)
      const runs = runsOf(outcome.value).filter(
        // The turn in which this is asked runs too, of course.
        (run) => isActive(run.status) && run.name !== 'order_desk',
      )
      if (runs.length === 0) return say('Nothing is running.')
      return say(
        `${runs.length} running: ${runs.map((run) => `${run.name} (${run.status}, ${run.id})`).join('; ')}.`,
      )
    },
  },
  {
    pattern: /\bcount to (\d{1,4})\b/i,
    reply: (_situation, [, to = '10']) =>
      say(Array.from({ length: Number(to) }, (_, index) => String(index + 1)).join(' ')),
  },
  {
    pattern: /\border\s+#?(\d{4,9})\b/i,
    reply: (situation, [, order = '']) => {
      const outcome = situation.outcomes.at(-1)
      if (outcome === undefined) {
        return call(situation, 'Let me look that up. ', 'lookup_order', { order_id: order })
      }
      const item = fieldOf(outcome.value, 'item')
      if (!outcome.ok || item === undefined) return say(`I cannot find order ${order}.`)
      const total = numberOf(outcome.value, 'total') ?? 0
      return say(`Order ${order}: ${item}, ${total} EUR, ${fieldOf(outcome.value, 'status')}.`)
    },
  },
]

function say(text: string): Reply {
  return { text, calls: [] }
}

function call(situation: Situation, text: string, name: string, input: JSONObject): Reply {
  const id = `call_${situation.callsBefore + 1}`
  return { text, calls: [{ id, name, input }] }
}

/** Starts a workflow, then tells of the run that came of it. */
function startThenTell(
  situation: Situation,
  definition: string,
  input: JSONObject,
  tell: (runId: string) => string,
): Reply {
  const outcome = situation.outcomes.at(-1)
  if (outcome === undefined) {
    return call(situation, '', 'workflow_run_start', {
      definition_name: definition,
      definition_version: 'v1',
      input,
    })
  }
  const run = fieldOf(outcome.value, 'run_id')
  return say(outcome.ok && run !== undefined ? tell(run) : `That did not start: ${outcome.text}`)
}

/** Looks for the newest active run of a definition, then acts on it, then tells of it. */
function findThenAct(
  situation: Situation,
  definition: string,
  action: (runId: string) => { readonly name: string; readonly input: JSONObject },
): Reply {
  const [listed, acted] = situation.outcomes
  if (listed === undefined) return call(situation, '', 'workflow_run_list', activeRuns)
  if (acted !== undefined) return say(acted.ok ? 'Done.' : `That was refused: ${acted.text}`)
  const run = runsOf(listed.value).find(
    (candidate) => candidate.name === definition && isActive(candidate.status),
  )
  if (run === undefined) return say('There is no such run at the moment.')
  const { name, input } = action(run.id)
  return call(situation, '', name, input)
}

/** Newest first. */
const activeRuns: JSONObject = {
  order: 'descending',
  run_status: ['pending', 'running', 'interrupted'],
}

function isActive(status: string): boolean {
  return status === 'pending' || status === 'running' || status === 'interrupted'
}

function situationOf(prompt: LanguageModelV4Prompt): Situation {
  const lastUser = prompt.findLastIndex((message) => message.role === 'user')
  const user = prompt[lastUser]
  const request =
    user?.role === 'user'
      ? user.content.map((part) => (part.type === 'text' ? part.text : '')).join(' ')
      : ''
  let callsBefore = 0
  const outcomes: ToolOutcome[] = []
  for (const [index, message] of prompt.entries()) {
    if (message.role === 'assistant') {
      callsBefore += message.content.filter((part) => part.type === 'tool-call').length
    }
    if (message.role !== 'tool' || index < lastUser) continue
    for (const part of message.content) {
      if (part.type === 'tool-result') outcomes.push(outcomeOf(part.toolName, part.output))
    }
  }
  return { request: request.trim(), outcomes, callsBefore }
}

type Output = Extract<
  Extract<LanguageModelV4Prompt[number], { role: 'tool' }>['content'][number],
  { type: 'tool-result' }
>['output']

function outcomeOf(name: string, output: Output): ToolOutcome {
  switch (output.type) {
    case 'text':
      return { name, ok: true, text: output.value, value: parsed(output.value) }
    case 'json':
      return { name, ok: true, text: JSON.stringify(output.value), value: unwrapped(output.value) }
    case 'execution-denied':
      return { name, ok: false, text: output.reason ?? 'it was denied', value: undefined }
    case 'error-text':
      return { name, ok: false, text: output.value, value: undefined }
    case 'error-json':
      return { name, ok: false, text: JSON.stringify(output.value), value: undefined }
    case 'content': {
      const text = output.value.map((part) => (part.type === 'text' ? part.text : '')).join('')
      return { name, ok: true, text, value: parsed(text) }
    }
  }
}

/** Tools that answer with JSON text inside a content block, and those that answer with JSON. */
function unwrapped(value: unknown): unknown {
  return typeof value === 'string' ? parsed(value) : value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function fieldOf(value: unknown, field: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const found = (value as Readonly<Record<string, unknown>>)[field]
  return typeof found === 'string' ? found : undefined
}

function numberOf(value: unknown, field: string): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const found = (value as Readonly<Record<string, unknown>>)[field]
  return typeof found === 'number' ? found : undefined
}

function runsOf(
  value: unknown,
): readonly { readonly id: string; readonly name: string; readonly status: string }[] {
  if (typeof value !== 'object' || value === null || !('runs' in value)) return []
  const { runs } = value
  if (!Array.isArray(runs)) return []
  return runs.map((run) => ({
    id: fieldOf(run, 'run_id') ?? '',
    name: fieldOf(run, 'definition_name') ?? '',
    status: fieldOf(run, 'run_status') ?? '',
  }))
}
