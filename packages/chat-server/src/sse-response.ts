import type { Log, Timers } from '@holdfast/core'
import { commentFrame, heartbeatFrame } from '@holdfast/chat-protocol'

/** What an event stream is made of. */
export interface SseResponseOptions {
  /**
   * Gives the frames. It gets a signal that fires when nobody reads any more, and a function that
   * ends the response at once.
   */
  frames(signal: AbortSignal, end: () => void): AsyncGenerator<string, void, undefined>
  readonly headers: Headers
  readonly timers: Timers
  readonly log: Log
  readonly heartbeatMs: number
  /** Fires when the server lets go of its readers; they come back elsewhere. */
  readonly letGo: AbortSignal
}

/**
 * A response of server-sent events. Frames are asked for only while the client takes them; a silent
 * one gets heartbeats.
 *
 * When the client goes, only this reader ends. When the frames fail, the response ends without a
 * last word, so that the client comes back; the cause is logged.
 */
export function sseResponse(options: SseResponseOptions): Response {
  const { timers, log, heartbeatMs, letGo } = options
  const encoder = new TextEncoder()
  const stop = new AbortController()
  let frames: AsyncGenerator<string, void, undefined>
  let cancelHeartbeat: () => void = () => undefined
  let isOver = false
  let onLetGo: () => void = () => undefined

  function finish(): boolean {
    if (isOver) return false
    isOver = true
    cancelHeartbeat()
    letGo.removeEventListener('abort', onLetGo)
    stop.abort()
    // Its `finally` lets go of the stream. A read that is under way ends first, so it is not waited
    // for.
    void frames.return(undefined).catch(() => undefined)
    return true
  }

  function beat(controller: ReadableStreamDefaultController<Uint8Array>): void {
    cancelHeartbeat()
    cancelHeartbeat = timers.after(heartbeatMs, () => {
      if (isOver) return
      if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(heartbeatFrame))
      beat(controller)
    })
  }

  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (): void => {
        if (finish()) controller.close()
      }
      onLetGo = end
      controller.enqueue(encoder.encode(commentFrame('stream-open')))
      frames = options.frames(stop.signal, end)
      beat(controller)
      if (letGo.aborted) end()
      else letGo.addEventListener('abort', onLetGo, { once: true })
    },
    async pull(controller) {
      try {
        const { done, value } = await frames.next()
        if (isOver) return
        if (done === true) {
          if (finish()) controller.close()
          return
        }
        controller.enqueue(encoder.encode(value))
        beat(controller)
      } catch (cause) {
        if (!finish()) return
        log.write({
          level: 'warn',
          event: 'chat_server.reader.failed',
          message: 'A reader’s stream broke off; the client will come back.',
          cause,
        })
        controller.close()
      }
    },
    cancel() {
      finish()
    },
  })
  return new Response(body, { status: 200, headers: options.headers })
}
