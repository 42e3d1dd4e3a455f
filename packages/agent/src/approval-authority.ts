import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { ApprovalStore, JsonValue, System } from '@holdfast/core'
import type { ModelMessage } from '@ai-sdk/provider-utils'

/** How long an approval of a call that is not durable can be given, in milliseconds: 24 hours. */
const approvalLifeMs = 24 * 60 * 60 * 1_000

/** Remembers that a call that is not durable asked for an approval. */
export interface ApprovalAuthority {
  /** Keeps the server's own record of asking, and names it. */
  request(question: {
    readonly toolCallId: string
    readonly toolName: string
    readonly input: JsonValue
  }): Promise<string>
}

/** The authority of calls without a run: ids are fresh, and kept in the store if there is one. */
export function approvalAuthority(
  store: ApprovalStore | undefined,
  system: System,
): ApprovalAuthority {
  return {
    async request(question) {
      const approvalId = system.shortId()
      const expiresAt = system.now() + approvalLifeMs
      await store?.put({ approvalId, ...question, expiresAt })
      return approvalId
    },
  }
}

/**
 * Refuses decisions that come in the messages of a call: a client can write them itself. In a durable run
 * they are answers to the run's interrupts, and never come this way.
 *
 * Provider-executed ones are the provider's to judge, and pass.
 *
 * @throws `approval_invalid`
 */
export function refuseApprovalsInMessages(messages: readonly ModelMessage[]): void {
  const last = messages.at(-1)
  if (last?.role !== 'tool') return
  for (const part of last.content) {
    if (part.type !== 'tool-approval-response' || part.providerExecuted === true) continue
    throw new HoldfastError(ErrorCode.approvalInvalid, {
      message: `Approval "${part.approvalId}" came in the messages, where it cannot be trusted.`,
      details: { approval_id: part.approvalId },
    })
  }
}
