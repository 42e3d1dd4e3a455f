// What became of everything, seen from outside: over HTTP, as the browsers that were promised it.
import { setTimeout as pause } from 'node:timers/promises'
import type { Browser } from './browser.ts'
import type {
  AnswerEvidence,
  ChatEvidence,
  RunEvidence,
  SeenRun,
  StreamEvidence,
} from './evidence.ts'
import { isRecord } from './json.ts'
import type { Ledger, LedgerAnswer, LedgerChat, LedgerRun } from './ledger.ts'
import { sdkMessage, textOfMessage } from './sdk-message.ts'
import { shownMessages } from './shown-messages.ts'
import { parseStreamName, streamsOfMessage } from './stream-id.ts'
import { readUncut } from './uncut-reader.ts'
import { hasEnded, shownRun } from './workflow-run.ts'
import type { ShownRun } from './workflow-run.ts'

/** What the server says at the end. */
export interface Inspection {
  readonly runs: readonly RunEvidence[]
  readonly strayRuns: readonly { readonly runId: string; readonly definition: string }[]
  readonly answers: readonly AnswerEvidence[]
  readonly chats: readonly ChatEvidence[]
}

/** Milliseconds between two requests of a browser: below its rate limit. */
const paceMs = 55
/** How long runs may take to end once nobody waits for them. */
const patienceMs = 20_000

/** Asks about everything that was acknowledged, and for what was not. */
export async function inspect(ledger: Ledger, browsers: readonly Browser[]): Promise<Inspection> {
  const parts = await Promise.all(
    browsers.map(async (browser) => await inspectBrowser(ledger, browser)),
  )
  return {
    runs: parts.flatMap(({ runs }) => runs),
    strayRuns: parts.flatMap(({ strayRuns }) => strayRuns),
    answers: parts.flatMap(({ answers }) => answers),
    chats: parts.flatMap(({ chats }) => chats),
  }
}

async function inspectBrowser(ledger: Ledger, browser: Browser): Promise<Inspection> {
  const mine = <Item extends { readonly browser: number }>(items: Iterable<Item>): Item[] =>
    [...items].filter((item) => item.browser === browser.number)
  const listed = await listRuns(browser)
  const runs: RunEvidence[] = []
  const shown = new Map(listed.map((run) => [run.runId, run]))
  for (const run of mine(ledger.runs.values())) {
    runs.push(await inspectRun(browser, run, shown.get(run.runId)))
  }
  const answers: AnswerEvidence[] = []
  for (const answer of mine(ledger.answers.values())) {
    answers.push(await inspectAnswer(browser, answer))
  }
  const chats: ChatEvidence[] = []
  for (const chat of mine(ledger.chats.values())) chats.push(await inspectChat(browser, chat))
  const strayRuns = listed.filter(
    ({ runId, parentRunId }) =>
      !ledger.runs.has(runId) && (parentRunId === undefined || !ledger.runs.has(parentRunId)),
  )
  // A child is nobody's promise, but it must end with its parent.
  const children = listed
    .filter(({ runId }) => !ledger.runs.has(runId))
    .filter(({ parentRunId }) => parentRunId !== undefined && ledger.runs.has(parentRunId))
    .filter((child) => !hasEnded(child) || child.status === 'failed')
  for (const { runId, status } of children) {
    ledger.failures.push(`child run ${runId} is ${status}`)
  }
  return { runs, strayRuns, answers, chats }
}

/** All runs of a browser's session, once they have ended or had the time to. */
async function listRuns(browser: Browser): Promise<readonly ShownRun[]> {
  for (let waitedMs = 0; ; waitedMs += 250) {
    const runs: ShownRun[] = []
    for (let after = ''; ;) {
      await pause(paceMs)
      const body = await browser.get(`/api/runs?limit=100${after}`)
      if (!isRecord(body) || !Array.isArray(body['runs'])) {
        throw new Error(`no list of runs: ${JSON.stringify(body)}`)
      }
      runs.push(...body['runs'].map(shownRun))
      const { next } = body
      if (typeof next !== 'string') break
      after = `&after=${next}`
    }
    if (runs.every(hasEnded) || waitedMs >= patienceMs) return runs
    await pause(250)
  }
}

/** The list has the status; where the output counts, the run itself is asked for. */
async function inspectRun(
  browser: Browser,
  { runId, scenario, rightEnds }: LedgerRun,
  listed: ShownRun | undefined,
): Promise<RunEvidence> {
  if (listed !== undefined && rightEnds.every(({ output }) => output === undefined)) {
    return { runId, scenario, rightEnds, seen: seenRun(listed) }
  }
  await pause(paceMs)
  const { status: code, body } = await browser.request('GET', `/api/runs/${runId}`)
  const evidence = { runId, scenario, rightEnds }
  return code === 200 ? { ...evidence, seen: seenRun(shownRun(body)) } : evidence
}

function seenRun({ status, output, error }: ShownRun): SeenRun {
  return {
    status,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
  }
}

async function inspectAnswer(browser: Browser, answer: LedgerAnswer): Promise<AnswerEvidence> {
  const { runId, chatId, scenario, text } = answer
  const inspectStreams = async (ids: readonly string[]): Promise<readonly StreamEvidence[]> => {
    const streams: StreamEvidence[] = []
    for (const streamId of ids) {
      await pause(paceMs)
      const whole = await readUncut(browser, streamId)
      const readings = answer.streams.get(streamId) ?? []
      streams.push({ streamId, readings, ...(whole === undefined ? {} : { whole }) })
    }
    return streams
  }
  const ids = [...answer.streams.keys()]
  const streams = await inspectStreams(streamsOfMessage(runId, ids))
  const messageStreams = await inspectStreams(ids.filter((id) => parseStreamName(id).isMessage))
  const sdk = await sdkText(streams)
  return { runId, chatId, scenario, text, streams, messageStreams, sdk }
}

async function sdkText(streams: readonly StreamEvidence[]): Promise<AnswerEvidence['sdk']> {
  try {
    const message = await sdkMessage(streams.flatMap(({ whole }) => whole?.chunks ?? []))
    return { text: textOfMessage(message) }
  } catch (error) {
    return { failure: String(error) }
  }
}

async function inspectChat(
  browser: Browser,
  { chatId, scenario, messageIds }: LedgerChat,
): Promise<ChatEvidence> {
  await pause(paceMs)
  const { status, body } = await browser.request('GET', `/api/chat/${chatId}/messages?limit=100`)
  return {
    chatId,
    scenario,
    messageIds: [...messageIds],
    shown: status === 200 ? shownMessages(body) : [],
  }
}
