/** What a page may show of the connection to a chat. */
export type ConnectionChange =
  | {
      /** The server answers. */
      readonly state: 'open'
      readonly chatId: string
    }
  | {
      /** The connection was lost or refused; it is tried again after the delay. */
      readonly state: 'reconnecting'
      readonly chatId: string
      /** 1 for the first attempt since something came. */
      readonly attempt: number
      readonly delayMs: number
    }
  | {
      /** The chat's stream has ended for this page. Comes last, once. */
      readonly state: 'closed'
      readonly chatId: string
      readonly outcome: ChatOutcome
    }

/**
 * How a chat's stream ended for this page.
 *
 * - `finished`: the server said so
 * - `aborted`: somebody stopped the run
 * - `failed`: the run failed, or the chat cannot be reached; `useChat` has the error
 * - `disconnected`: this page let go; the run goes on
 * - `inactive`: on a reconnect the server had nothing active any more and the end was not seen;
 *   load the messages anew
 */
export type ChatOutcome = 'finished' | 'aborted' | 'failed' | 'disconnected' | 'inactive'
