/** Response header: the id of the stream that a turn is answered with. Reconnects name it. */
export const workflowRunIdHeader = 'x-workflow-run-id'

/** Response header: the id of the run behind the stream. Absent from servers of other make. */
export const holdfastRunIdHeader = 'x-holdfast-run-id'

/**
 * Response header: the index of the first chunk of this response.
 *
 * It may be lower than what was asked for: for a tail, the server goes back to the start of a part.
 * A server that sends it also writes each chunk's index in the frame's `id:` line.
 */
export const startIndexHeader = 'x-holdfast-start-index'

/**
 * Response header: the index of the last chunk that was stored when the response began; -1 when
 * there is none.
 */
export const tailIndexHeader = 'x-workflow-stream-tail-index'

/** Response header that marks a UI message stream; its value is {@link uiMessageStreamVersion}. */
export const uiMessageStreamHeader = 'x-vercel-ai-ui-message-stream'

/** The version of the UI message stream that this package speaks. */
export const uiMessageStreamVersion = 'v1'

/** Request header: the `id:` of the last frame that the reader has. */
export const lastEventIdHeader = 'last-event-id'

/**
 * The headers of every streamed response. Proxies are asked neither to store nor to hold it back.
 */
export const sseResponseHeaders: Readonly<Record<string, string>> = Object.freeze({
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  connection: 'keep-alive',
  [uiMessageStreamHeader]: uiMessageStreamVersion,
  'x-accel-buffering': 'no',
})
