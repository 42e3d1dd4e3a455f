import { ErrorCode, hasErrorCode } from '@holdfast/core'
import type { ChatPorts } from './chat-ports.ts'
import { putChat, readChatState } from './chat-state.ts'
import { decideAgain } from './conflict.ts'
import { chatNotFound } from './not-found.ts'
import { isActive } from './turn-decision.ts'

/**
 * Forgets a chat: stops its run, and answers from then on as if the chat did not exist. Its id may be used for a new chat.
 *
 * Runs of it stay in the list of runs; what the store keeps of them and of the chat's log goes by its retention.
 *
 * @throws `chat_not_found`
 */
export async function forgetChat(
  ports: ChatPorts,
  sessionId: string,
  chatId: string,
): Promise<void> {
  const { store, supervisors, system } = ports
  await decideAgain(system, async (commit) => {
    const state = await readChatState(store, sessionId, chatId)
    const { document } = state
    if (document === undefined) throw chatNotFound()
    const { turn: runId, ...rest } = document
    const forget = putChat(state, {
      ...rest,
      title: '',
      waiting: [],
      updatedAt: system.now(),
      deleted: true,
    })
    const run = runId === undefined ? undefined : await store.run(sessionId, runId)
    if (isActive(run)) {
      try {
        const supervisor = supervisors.session(sessionId)
        const request = {
          runId: run.record.id,
          reason: 'chat deleted',
          by: { kind: 'person' },
        } as const
        await commit(() => supervisor.cancel(request, { with: [forget] }))
        const after = await readChatState(store, sessionId, chatId)
        // A cancel that was there before it writes nothing beside it.
        if (after.document === undefined) return
      } catch (error) {
        if (!hasErrorCode(error, ErrorCode.runEnded)) throw error
      }
    }
    await commit(() => store.commit({ sessionId, writes: [forget] }))
  })
}
