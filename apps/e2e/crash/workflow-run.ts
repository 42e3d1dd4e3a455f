import { setTimeout as pause } from 'node:timers/promises'
import { RefusedError } from './browser.ts'
import type { Browser } from './browser.ts'
import { isRecord } from './json.ts'
import type { SeenRun } from './evidence.ts'

/** A run as `GET /api/runs/{id}` shows it. */
export interface ShownRun extends SeenRun {
  readonly runId: string
  readonly definition: string
  readonly parentRunId?: string
  /** Ids of its open questions. */
  readonly questions: readonly string[]
}

/** Reads a run from the server's JSON. */
export function shownRun(value: unknown): ShownRun {
  if (!isRecord(value)) throw new RefusedError(`no run: ${JSON.stringify(value)}`)
  const { run_id, run_status, definition_name, parent_run_id, output, error, interrupts } = value
  if (typeof run_id !== 'string' || typeof run_status !== 'string') {
    throw new RefusedError(`no run: ${JSON.stringify(value)}`)
  }
  const questions = Array.isArray(interrupts) ? interrupts.filter(isRecord) : []
  return {
    runId: run_id,
    status: run_status,
    definition: String(definition_name),
    questions: questions.map(({ id }) => String(id)),
    ...(typeof parent_run_id === 'string' ? { parentRunId: parent_run_id } : {}),
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error: JSON.stringify(error) }),
  }
}

/** Whether nothing can come of a run any more. */
export function hasEnded({ status }: SeenRun): boolean {
  return status === 'completed' || status === 'cancelled' || status === 'failed'
}

const pollMs = 200

/** Looks at a run until it is as wanted, or has ended, and tells the ledger how it is. */
export async function watchRun(
  browser: Browser,
  runId: string,
  isWanted: (run: ShownRun) => boolean,
): Promise<ShownRun> {
  for (;;) {
    const run = shownRun(await browser.get(`/api/runs/${runId}`))
    const known = browser.ledger.runs.get(runId)
    if (known !== undefined) {
      known.state = hasEnded(run) ? 'ended' : run.status === 'interrupted' ? 'asking' : 'going'
    }
    if (hasEnded(run) || isWanted(run)) return run
    await pause(pollMs, undefined, { signal: browser.deadline })
  }
}

/** Waits until a run asks a person, and counts the question. */
export async function watchQuestion(browser: Browser, runId: string): Promise<string> {
  const run = await watchRun(browser, runId, ({ questions }) => questions.length > 0)
  const [question] = run.questions
  if (question === undefined) {
    throw new RefusedError(`run ${runId} asked nothing: ${JSON.stringify(run)}`)
  }
  browser.ledger.interrupts += 1
  browser.ledger.moments.note('question-open')
  return question
}

/** Answers a run's question as the page's form does. */
export async function resumeRun(
  browser: Browser,
  runId: string,
  question: string,
  resume: unknown,
): Promise<void> {
  const { ledger } = browser
  ledger.moments.note('resume-sent')
  const { status, body, isRepeated } = await browser.request('POST', `/api/runs/${runId}/resume`, {
    interrupt_id: question,
    resume,
  })
  // After a lost answer the first attempt may have counted.
  const isThereAlready = isRepeated && status === 409
  if (status >= 300 && !isThereAlready) {
    throw new RefusedError(`resume of run ${runId}: ${status} ${JSON.stringify(body)}`)
  }
  ledger.moments.note('resume-acknowledged')
  const known = ledger.runs.get(runId)
  if (known !== undefined) known.state = 'going'
}

/** Asks a run to stop. Resolves with false when it had ended by itself. */
export async function cancelRun(browser: Browser, runId: string): Promise<boolean> {
  const { moments } = browser.ledger
  moments.note('cancel-sent')
  const { status, body } = await browser.request('POST', `/api/runs/${runId}/cancel`, {
    reason: 'nobody wants it any more',
  })
  if (status >= 300 && status !== 409) {
    throw new RefusedError(`cancel of run ${runId}: ${status} ${JSON.stringify(body)}`)
  }
  moments.note('cancel-acknowledged')
  return status < 300
}
