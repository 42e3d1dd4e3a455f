import { renderMessage } from '@holdfast/chat-protocol'
import type { AnswerEvidence, CrashRecord } from './evidence.ts'
import type { Problem, ProblemKind } from './verdict.ts'

/** The figures of a crash run, as they are printed. */
export interface Summary {
  readonly kills: number
  readonly kills_in_flight: number
  readonly chats: number
  readonly runs: number
  readonly approvals: number
  readonly interrupts: number
  readonly resumes: number
  readonly cancels: number
  readonly steered: number
  readonly tool_calls: number
  readonly reconnects: number
  readonly lost_runs: number
  readonly lost_inbox: number
  readonly duplicated_effects: number
  readonly stream_mismatches: number
  readonly seconds: number
}

/** The kinds of things that ten seeds together must have seen at least {@link fewest} times. */
export const countedKinds = [
  'kills',
  'chats',
  'runs',
  'approvals',
  'interrupts',
  'resumes',
  'cancels',
  'steered',
  'tool_calls',
  'reconnects',
] as const satisfies readonly (keyof Summary)[]

/** How often ten seeds together must have seen each kind. */
export const fewest = 5

/** Counts what a crash run saw and what went wrong in it. */
export function summarize(record: CrashRecord, problems: readonly Problem[]): Summary {
  const inbox = (kind: CrashRecord['inbox'][number]['kind']): number =>
    record.inbox.filter((entry) => entry.kind === kind).length
  const wrong = (kind: ProblemKind): number =>
    problems.filter((problem) => problem.kind === kind).length
  return {
    kills: record.kills,
    kills_in_flight: record.killsInFlight,
    chats: record.chats.length,
    runs: record.runs.length,
    approvals: inbox('approval'),
    interrupts: record.interrupts,
    resumes: inbox('resume'),
    cancels: inbox('cancel'),
    steered: record.answers.reduce((sum, answer) => sum + steeredInto(answer), 0),
    tool_calls: record.answers.reduce((sum, answer) => sum + toolCallsOf(answer), 0),
    reconnects: record.reconnects,
    lost_runs: wrong('lost_run'),
    lost_inbox: wrong('lost_inbox'),
    duplicated_effects: wrong('duplicated_effect'),
    stream_mismatches: wrong('stream_mismatch'),
    seconds: Math.round(record.seconds * 10) / 10,
  }
}

/** The figures of several seeds together. */
export function sumOf(summaries: readonly Summary[]): Summary {
  const sum = (name: keyof Summary): number =>
    Math.round(summaries.reduce((total, summary) => total + summary[name], 0) * 10) / 10
  return {
    kills: sum('kills'),
    kills_in_flight: sum('kills_in_flight'),
    chats: sum('chats'),
    runs: sum('runs'),
    approvals: sum('approvals'),
    interrupts: sum('interrupts'),
    resumes: sum('resumes'),
    cancels: sum('cancels'),
    steered: sum('steered'),
    tool_calls: sum('tool_calls'),
    reconnects: sum('reconnects'),
    lost_runs: sum('lost_runs'),
    lost_inbox: sum('lost_inbox'),
    duplicated_effects: sum('duplicated_effects'),
    stream_mismatches: sum('stream_mismatches'),
    seconds: sum('seconds'),
  }
}

/** The kinds that were seen too seldom. */
export function rareKinds(total: Summary): readonly string[] {
  return countedKinds.filter((kind) => total[kind] < fewest)
}

/** One line for a person. */
export function sentenceOf(summary: Summary): string {
  const { kills, kills_in_flight, lost_runs, lost_inbox, duplicated_effects, stream_mismatches } =
    summary
  const seen = countedKinds
    .filter((kind) => kind !== 'kills')
    .map((kind) => `${summary[kind]} ${kind.replace('_', ' ')}`)
  return (
    `${kills} kills (${kills_in_flight} in flight), ${seen.join(', ')}: ${lost_runs} lost runs, ` +
    `${lost_inbox} lost inbox entries, ${duplicated_effects} duplicated effects, ` +
    `${stream_mismatches} stream mismatches in ${summary.seconds} s`
  )
}

function wholeOf({ streams }: AnswerEvidence) {
  return renderMessage(streams.flatMap(({ whole }) => whole?.chunks ?? []))
}

/** Messages that the run itself says it has taken up. */
function steeredInto(answer: AnswerEvidence): number {
  return wholeOf(answer).parts.filter(
    (part) => part.type === 'other' && part.chunk.type === 'steering-message',
  ).length
}

/** Calls that came to an output. */
function toolCallsOf(answer: AnswerEvidence): number {
  return wholeOf(answer).parts.filter(
    (part) => part.type === 'tool' && part.state === 'output-available',
  ).length
}
