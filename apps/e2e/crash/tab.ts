import { WorkflowChatTransport } from '@holdfast/chat-client'
import type { ChatOutcome } from '@holdfast/chat-client'
import { holdfastRunIdHeader, workflowRunIdHeader } from '@holdfast/chat-protocol'
import { RefusedError } from './browser.ts'
import type { Browser } from './browser.ts'

/** What an answer says of itself in its headers. */
export interface Place {
  readonly runId: string
  readonly streamId: string
}

/** One reader's transport, and what it says of itself. */
export class Tab {
  readonly #browser: Browser
  readonly #leaving = new AbortController()
  readonly signal: AbortSignal
  #opened = 0
  #end: { readonly outcome: ChatOutcome; readonly next: number } | undefined

  constructor(browser: Browser) {
    this.#browser = browser
    this.signal = AbortSignal.any([browser.deadline, this.#leaving.signal])
  }

  readonly leave = (): void => this.#leaving.abort()
  readonly end = () => this.#end
  readonly reconnects = (): number => Math.max(0, this.#opened - 1)

  transport(
    onResponse?: (response: Response) => void,
    onAnswered?: (response: Response) => void,
  ): WorkflowChatTransport {
    const { fetch, random } = this.#browser
    return new WorkflowChatTransport({
      fetch: async (input, init) => {
        const response = await fetch(input, init)
        if (response.ok && response.status !== 204) onResponse?.(response)
        return response
      },
      // A reader of this proof is patient: what it must not survive is a lost chunk.
      maxConsecutiveErrors: 1_000_000,
      backoff: { initialDelayMs: 40, maxDelayMs: 250 },
      system: {
        now: () => Date.now(),
        random: () => random.next(),
        startTimer(callback, milliseconds) {
          const timer = setTimeout(callback, milliseconds)
          return () => clearTimeout(timer)
        },
        warn: (message, cause) => {
          this.#browser.ledger.failures.push(`the transport warns: ${message} ${String(cause)}`)
        },
      },
      onConnectionChange: ({ state }) => {
        if (state === 'open') this.#opened += 1
      },
      onChatEnd: ({ outcome, chunkIndex }) => {
        this.#end = { outcome, next: chunkIndex }
      },
      ...(onAnswered === undefined ? {} : { onChatSendMessage: onAnswered }),
    })
  }
}

/** Reads where an answer comes from. @throws when it does not say so */
export function placeOf(response: Response): Place {
  const streamId = response.headers.get(workflowRunIdHeader)
  const runId = response.headers.get(holdfastRunIdHeader)
  if (streamId === null || runId === null) {
    throw new RefusedError(`an answer names run ${runId} and stream ${streamId}`)
  }
  return { streamId, runId }
}
