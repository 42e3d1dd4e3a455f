import { listOf, recordOf, textOf } from '../api/json-reader.ts'
import { requestJson } from '../api/request.ts'
import { type RunView, runViewFrom } from './run-view.ts'

const runPath = '/api/runs'

/** The definition of the runs that answer in chats: the chats show those. */
const chatDefinition = 'order_desk'
const pageRuns = 100
const enoughRuns = 20
const maxPages = 3

/** The newest runs of the session beside those that answer in its chats, the newest first. @throws {RequestError} */
export async function loadRuns(signal: AbortSignal): Promise<readonly RunView[]> {
  const runs: RunView[] = []
  let after: string | undefined
  for (let page = 1; page <= maxPages; page += 1) {
    const cursor = after === undefined ? '' : `&after=${encodeURIComponent(after)}`
    const body = recordOf(await requestJson(`${runPath}?limit=${pageRuns}${cursor}`, { signal }))
    const read = listOf(body?.['runs']).flatMap((entry) => runViewFrom(entry) ?? [])
    runs.push(...read.filter(({ definition }) => definition !== chatDefinition))
    after = textOf(body?.['next'])
    if (after === undefined || runs.length >= enoughRuns) break
  }
  return runs
}

/** One run with what came of it. @throws {RequestError} */
export async function loadRun(runId: string, signal: AbortSignal): Promise<RunView | undefined> {
  return runViewFrom(await requestJson(`${runPath}/${encodeURIComponent(runId)}`, { signal }))
}

/** Answers a run's question. @throws {RequestError} 422: the answer does not fit; 409: it was answered */
export async function answerRun(runId: string, questionId: string, answer: unknown): Promise<void> {
  await requestJson(`${runPath}/${encodeURIComponent(runId)}/resume`, {
    method: 'POST',
    body: { interrupt_id: questionId, resume: answer },
  })
}

/** Asks a run to stop. @throws {RequestError} 409: it has ended */
export async function cancelRun(runId: string): Promise<void> {
  await requestJson(`${runPath}/${encodeURIComponent(runId)}/cancel`, {
    method: 'POST',
    body: { reason: 'cancelled on the page' },
  })
}

/** Where a run's history is read. */
export function historyPath(runId: string): string {
  return `${runPath}/${encodeURIComponent(runId)}/history`
}
