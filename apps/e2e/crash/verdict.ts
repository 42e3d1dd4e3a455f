import { isDeepStrictEqual } from 'node:util'
import { isTerminalChunk, renderMessage, repairFraming } from '@holdfast/chat-protocol'
import type { RenderedMessage, RenderedPart, UiChunk } from '@holdfast/chat-protocol'
import type {
  AnswerEvidence,
  ChatEvidence,
  CrashRecord,
  InboxEvidence,
  Reading,
  RunEvidence,
  StreamEvidence,
} from './evidence.ts'

/** What must not happen. */
export type ProblemKind =
  | 'lost_run'
  | 'lost_inbox'
  | 'duplicated_effect'
  | 'stream_mismatch'
  | 'failure'

/** One thing that went wrong. */
export interface Problem {
  readonly kind: ProblemKind
  readonly text: string
}

/** Everything that went wrong in a crash run; nothing when it stood. */
export function problemsOf(record: CrashRecord): readonly Problem[] {
  const runs = new Map(record.runs.map((run) => [run.runId, run]))
  return [
    ...record.runs.flatMap(runProblems),
    ...effectProblems(record),
    ...record.answers.flatMap((answer) => answerProblems(answer, runs.get(answer.runId))),
    ...record.chats.flatMap((chat) => chatProblems(chat, record)),
    ...record.inbox.flatMap((entry) => inboxProblems(entry, record, runs)),
    ...record.failures.map((text): Problem => ({ kind: 'failure', text })),
    ...killProblems(record),
  ]
}

function problem(kind: ProblemKind, text: string): Problem {
  return { kind, text }
}

function runProblems({ runId, scenario, seen, rightEnds }: RunEvidence): readonly Problem[] {
  const lost = (why: string) => [problem('lost_run', `${scenario}: run ${runId} ${why}`)]
  if (seen === undefined) return lost('is not known any more')
  const isRight = rightEnds.some(
    ({ status, output }) =>
      status === seen.status && (output === undefined || isDeepStrictEqual(output, seen.output)),
  )
  if (isRight) return []
  return lost(`is ${JSON.stringify(seen)}; right is one of ${JSON.stringify(rightEnds)}`)
}

function effectProblems(record: CrashRecord): readonly Problem[] {
  const problems: Problem[] = record.strayRuns.map(({ runId, definition }) =>
    problem('duplicated_effect', `nobody asked for run ${runId} of ${definition}`),
  )
  for (const { scenario, orderId, kind, amount, times } of record.expectedEffects) {
    const happened = record.effects.filter((effect) => effect.orderId === orderId)
    const right = happened.filter((effect) => effect.kind === kind && effect.amount === amount)
    const text = `${scenario}: order ${orderId} has ${JSON.stringify(happened)}; right is ${times} ${kind} of ${amount}`
    const most = times === 0 ? 0 : 1
    const least = times === 1 ? 1 : 0
    if (happened.length > most) {
      problems.push(problem('duplicated_effect', text))
    } else if (right.length < least || right.length < happened.length) {
      problems.push(problem('lost_run', text))
    }
  }
  const expected = new Set(record.expectedEffects.map(({ orderId }) => orderId))
  for (const effect of record.effects) {
    if (expected.has(effect.orderId)) continue
    problems.push(
      problem('duplicated_effect', `nobody asked for the effect ${JSON.stringify(effect)}`),
    )
  }
  return problems
}

function answerProblems(answer: AnswerEvidence, run: RunEvidence | undefined): readonly Problem[] {
  const { runId, scenario, streams, messageStreams } = answer
  const found = [...streams, ...messageStreams].flatMap(streamProblems)
  const chunks = streams.flatMap(({ whole }) => whole?.chunks ?? [])
  const message = renderMessage(chunks)
  if (message.messageId !== runId) found.push(`names its message ${message.messageId}`)
  if (message.orphans > 0) found.push(`has ${message.orphans} chunks without a beginning`)
  const text = textOf(message.parts)
  if (!isRightText(answer, message, text)) {
    found.push(
      `says ${JSON.stringify(text)} (${message.status}), not ${JSON.stringify(answer.text)}`,
    )
  }
  if (run?.seen !== undefined && message.status !== streamEnds[run.seen.status]) {
    found.push(`is ${message.status}, its run ${run.seen.status}`)
  }
  if ('failure' in answer.sdk) found.push(`cannot be read by the AI SDK: ${answer.sdk.failure}`)
  else if (answer.sdk.text !== text) {
    found.push(
      `reads ${JSON.stringify(answer.sdk.text)} in the AI SDK, not ${JSON.stringify(text)}`,
    )
  }
  found.push(...wholeReaderProblems(streams, message))
  for (const stream of messageStreams) {
    found.push(...wholeReaderProblems([stream], message))
    if (!isDeepStrictEqual(renderMessage(stream.whole?.chunks ?? []), message)) {
      found.push(`renders otherwise as ${stream.streamId}`)
    }
  }
  return found.map((why) => problem('stream_mismatch', `${scenario}: answer ${runId} ${why}`))
}

const streamEnds: Readonly<Record<string, RenderedMessage['status']>> = {
  completed: 'finished',
  cancelled: 'aborted',
  failed: 'failed',
}

function isRightText(answer: AnswerEvidence, message: RenderedMessage, text: string): boolean {
  return message.status === 'aborted' ? answer.text.startsWith(text) : answer.text === text
}

function streamProblems({ streamId, whole, readings }: StreamEvidence): string[] {
  if (whole === undefined) return [`has lost its stream ${streamId}`]
  const found: string[] = []
  if (whole.indexes.some((index, at) => index !== at)) {
    found.push(`has a stream ${streamId} whose indexes are not contiguous: ${whole.indexes.join()}`)
  }
  const end = whole.chunks.findIndex(isTerminalChunk)
  if (end !== whole.chunks.length - 1) {
    found.push(`has a stream ${streamId} of ${whole.chunks.length} chunks that ends at ${end}`)
  }
  for (const reading of readings) {
    const why = readingProblem(reading, whole.chunks)
    if (why !== undefined) found.push(`has a stream ${streamId} of which ${reading.reader} ${why}`)
  }
  return found
}

/** Why a reader has not what a reader has who was never cut. */
function readingProblem(reading: Reading, whole: readonly UiChunk[]): string | undefined {
  const { asked, from, next, chunks, end, failure } = reading
  if (end === 'broken')
    return `did not see the end: ${failure} (${from}..${next} of ${whole.length})`
  if (asked >= 0 && from !== asked) return `asked for ${asked} and got ${from}`
  if (end === 'finished' && next !== whole.length) {
    return `stopped at ${next} of ${whole.length}`
  }
  const right = repairFraming(whole.slice(from, next))
  const at = right.findIndex((chunk, index) => !isDeepStrictEqual(chunk, chunks[index]))
  if (at !== -1 || chunks.length !== right.length) {
    const place = at === -1 ? right.length : at
    return (
      `got other chunks from ${from}: at ${place} of ${right.length} ` +
      `${JSON.stringify(chunks[place])} and not ${JSON.stringify(right[place])}`
    )
  }
  if (asked < 0 && end === 'finished') return tailProblem(chunks, whole)
  return undefined
}

/** Every part that a reader of a tail renders is a part of the whole. */
function tailProblem(tail: readonly UiChunk[], whole: readonly UiChunk[]): string | undefined {
  const { parts, orphans } = renderMessage(tail)
  if (orphans > 0) return `got a tail with ${orphans} chunks without a beginning`
  const all = renderMessage(whole).parts
  const last = parts.length === 0 ? [] : all.slice(-parts.length)
  return isDeepStrictEqual(parts, last) ? undefined : 'got a tail that renders otherwise'
}

/** Those who read all of a message render it as it is. */
function wholeReaderProblems(
  streams: readonly StreamEvidence[],
  message: RenderedMessage,
): readonly string[] {
  const names = new Set(streams.flatMap(({ readings }) => readings.map(({ reader }) => reader)))
  return [...names].flatMap((name) => {
    const readings = streams.map((stream) =>
      stream.readings.find(
        ({ reader, from, end }) => reader === name && from === 0 && end === 'finished',
      ),
    )
    if (readings.includes(undefined)) return []
    const rendered = renderMessage(readings.flatMap((reading) => reading?.chunks ?? []))
    return isDeepStrictEqual(rendered, message) ? [] : [`renders otherwise for ${name}`]
  })
}

function chatProblems(chat: ChatEvidence, record: CrashRecord): readonly Problem[] {
  const { chatId, scenario, messageIds, shown } = chat
  const problems: Problem[] = []
  for (const id of messageIds) {
    const times = shown.filter((one) => one.id === id || one.steered.includes(id)).length
    if (times === 1) continue
    problems.push(
      problem('lost_inbox', `${scenario}: chat ${chatId} shows message ${id} ${times} times`),
    )
  }
  for (const answer of record.answers) {
    if (answer.chatId !== chatId) continue
    const copies = shown.filter(({ id }) => id === answer.runId)
    const chunks = answer.streams.flatMap(({ whole }) => whole?.chunks ?? [])
    const { parts } = renderMessage(chunks)
    const isShown = copies.length === 1 && copies[0]?.text === textOf(parts)
    // An answer that was stopped before its first word is not shown.
    if (isShown || (copies.length === 0 && textOf(parts) === '')) continue
    problems.push(
      problem(
        'stream_mismatch',
        `${scenario}: chat ${chatId} shows answer ${answer.runId} as ${JSON.stringify(copies)}, not ${JSON.stringify(textOf(parts))}`,
      ),
    )
  }
  return problems
}

function inboxProblems(
  entry: InboxEvidence,
  { answers, chats }: CrashRecord,
  runs: ReadonlyMap<string, RunEvidence>,
): readonly Problem[] {
  const lost = (why: string) => [problem('lost_inbox', `${entry.scenario}: ${why}`)]
  switch (entry.kind) {
    case 'cancel': {
      const status = runs.get(entry.runId)?.seen?.status
      return status === 'cancelled' ? [] : lost(`run ${entry.runId} is ${status}, not cancelled`)
    }
    case 'resume': {
      const output = runs.get(entry.runId)?.seen?.output
      if (isDeepStrictEqual(output, entry.output)) return []
      return lost(
        `run ${entry.runId} gave ${JSON.stringify(output)}; its answer asks for ${JSON.stringify(entry.output)}`,
      )
    }
    case 'approval': {
      const answer = answers.find(({ runId }) => runId === entry.runId)
      const chunks = answer?.streams.flatMap(({ whole }) => whole?.chunks ?? []) ?? []
      const tool = renderMessage(chunks).parts.find(
        (part) => part.type === 'tool' && part.toolCallId === entry.toolCallId,
      )
      const state = tool?.type === 'tool' ? tool.state : 'absent'
      const right = entry.approved ? 'output-available' : 'output-denied'
      if (state === right) return []
      return lost(`call ${entry.toolCallId} of run ${entry.runId} is ${state}, not ${right}`)
    }
    case 'message': {
      const chat = chats.find(({ chatId }) => chatId === entry.chatId)
      const said = chat?.shown.filter(({ role }) => role === 'assistant').map(({ text }) => text)
      const times = said === undefined ? 0 : said.join('\n').split(entry.reply).length - 1
      if (times === 1) return []
      return lost(
        `chat ${entry.chatId} answers message ${entry.messageId} ${times} times (${JSON.stringify(said)})`,
      )
    }
  }
}

function killProblems({ kills, killsInFlight }: CrashRecord): readonly Problem[] {
  if (killsInFlight * 2 >= kills) return []
  return [problem('failure', `only ${killsInFlight} of ${kills} kills hit work in flight`)]
}

function textOf(parts: readonly RenderedPart[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
}
