import { reconnectDelay, retryAfterFromHeader } from './backoff.ts'
import { ChatDisconnectedError, errorFromResponse } from './error.ts'
import type { PreparedRequest } from './request.ts'
import { type TransportSystem, wait } from './system.ts'

/** What {@link send} works with. */
export interface SendOptions {
  readonly fetch: typeof fetch
  readonly system: TransportSystem
  readonly signal: AbortSignal
  /**
   * What may be tried once more: `nothing`; `refused`, what the server says it has not done;
   * `anything`, a request whose fate is not known, too.
   */
  readonly retry: 'nothing' | 'refused' | 'anything'
}

const longestPauseMs = 30_000

/**
 * Sends a POST and resolves with a success. Tries at most twice.
 *
 * @throws {ChatDisconnectedError} the network failed
 * @throws {ChatTransportError} `request_failed`: the server refused
 * @throws the signal's reason, once it is aborted
 */
export async function send(request: PreparedRequest, options: SendOptions): Promise<Response> {
  const first = await attempt(request, options)
  if (!('networkError' in first) && first.ok) return first
  const pauseMs = pauseBeforeRetry(first, options)
  if (pauseMs === undefined) return await successOf(first)
  if (!('networkError' in first)) void first.body?.cancel().catch(() => undefined)
  await wait(options.system, pauseMs, options.signal)
  options.signal.throwIfAborted()
  return await successOf(await attempt(request, options))
}

/** The answer, or the error that took its place. */
async function attempt(
  { url, init }: PreparedRequest,
  { fetch, signal }: SendOptions,
): Promise<Response | { readonly networkError: unknown }> {
  try {
    return await fetch(url, { ...init, signal })
  } catch (networkError) {
    signal.throwIfAborted()
    return { networkError }
  }
}

function pauseBeforeRetry(
  answer: Response | { readonly networkError: unknown },
  { retry, system }: SendOptions,
): number | undefined {
  if (retry === 'nothing') return undefined
  const pause = (retryAfterMs?: number): number =>
    reconnectDelay({ attempt: 1, retryAfterMs, random: system.random() })
  if ('networkError' in answer) return retry === 'anything' ? pause() : undefined
  const retryAfterMs = retryAfterFromHeader(answer.headers.get('retry-after'), system.now())
  if (retryAfterMs === undefined) return answer.status === 503 ? pause() : undefined
  if (retryAfterMs > longestPauseMs) return undefined
  return [409, 425, 429, 503].includes(answer.status) ? pause(retryAfterMs) : undefined
}

async function successOf(answer: Response | { readonly networkError: unknown }): Promise<Response> {
  if ('networkError' in answer) {
    const { networkError } = answer
    const reason = networkError instanceof Error ? `: ${networkError.message}` : '.'
    throw new ChatDisconnectedError(`Network error while sending${reason}`, { cause: networkError })
  }
  if (!answer.ok) throw await errorFromResponse(answer)
  return answer
}
