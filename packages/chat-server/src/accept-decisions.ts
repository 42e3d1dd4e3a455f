import { ErrorCode, HoldfastError } from '@holdfast/core'
import { putChat, readAnswer, readTurn } from './chat-state.ts'
import { approvalInvalid, matchDecisions } from './interrupt-answer.ts'
import { chatNotFound } from './not-found.ts'
import { newestStreamOf, openStreamOf } from './stream-place.ts'
import { isActive } from './turn-decision.ts'
import type { TurnRequest } from './turn-request.ts'
import { type AcceptedTurn, answerEntries, type TurnMoment } from './turn-writes.ts'

/**
 * Gives a page's decisions to the run that asked, all of them or none.
 *
 * The same decisions again get the stream that they got. Part of what is open may be left open.
 *
 * @throws `chat_not_found`, `approval_invalid`, `interrupt_answered`, `message_invalid` (nothing was decided)
 */
export async function acceptDecisions(
  moment: TurnMoment,
  request: Extract<TurnRequest, { readonly kind: 'decisions' }>,
): Promise<AcceptedTurn> {
  const { ports, sessionId, state, commit } = moment
  const { messageId: runId, decisions } = request
  const { document } = state
  if (document === undefined) throw chatNotFound()
  const turn = await readTurn(ports.store, state, runId)
  const run = turn === undefined ? undefined : await ports.store.run(sessionId, runId)
  if (run === undefined) throw approvalInvalid()
  const { answers, repeated } = await matchDecisions(ports, sessionId, run, decisions)
  if (answers.length === 0) {
    const before = repeated[0] === undefined ? undefined : await streamOfAnswers(moment, repeated)
    if (before !== undefined) return { place: { runId, streamId: before } }
    if (isActive(run) && newestStreamOf(run).streamId !== openStreamOf(run).streamId) {
      throw new HoldfastError(ErrorCode.messageInvalid, {
        message: 'The turn waits for a decision, and the message has none.',
      })
    }
    return { place: newestStreamOf(run) }
  }
  // A turn of a branch that was left behind is not taken up again.
  if (document.turn !== runId) throw approvalInvalid()
  const { streamId } = await commit(() =>
    ports.supervisors.session(sessionId).resumeMany(
      {
        runId,
        answers,
        by: { kind: 'person' },
        streamIs: run.record.stream,
      },
      {
        with: [
          putChat(state, { ...document, updatedAt: ports.system.now() }),
          ...answerEntries(state, run, answers),
        ],
      },
    ),
  )
  return { place: { runId, streamId } }
}

async function streamOfAnswers(
  { ports, state }: TurnMoment,
  interruptIds: readonly string[],
): Promise<string | undefined> {
  const entries = await Promise.all(interruptIds.map((id) => readAnswer(ports.store, state, id)))
  return entries.findLast((entry) => entry !== undefined)?.streamId
}
