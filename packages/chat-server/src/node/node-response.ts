import type { ServerResponse } from 'node:http'

/**
 * Sends a response. Reads its body no faster than the client takes it; resolves when all was handed over or the client has gone.
 *
 * A body that fails breaks the connection off, so that the client does not take it for whole.
 */
export async function writeResponse(
  outgoing: ServerResponse,
  response: Response,
  headOnly: boolean,
): Promise<void> {
  const reader = response.body?.getReader()
  if (outgoing.destroyed) {
    await reader?.cancel()
    return
  }
  outgoing.writeHead(response.status, headersOf(response.headers))
  if (reader === undefined || headOnly) {
    await reader?.cancel()
    outgoing.end()
    return
  }
  const onClose = (): void => {
    void reader.cancel().catch(() => undefined)
  }
  outgoing.once('close', onClose)
  try {
    // A stream that says nothing yet has begun all the same.
    outgoing.flushHeaders()
    for (;;) {
      const { done, value } = await reader.read()
      if (done || outgoing.destroyed) break
      if (!outgoing.write(value)) await drained(outgoing)
    }
    if (!outgoing.destroyed) outgoing.end()
  } catch (error) {
    outgoing.destroy()
    throw error
  } finally {
    outgoing.off('close', onClose)
  }
}

/** Resolves when more can be written, or the connection is gone. */
async function drained(outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle)
      outgoing.off('close', settle)
      resolve()
    }
    outgoing.on('drain', settle)
    outgoing.on('close', settle)
  })
}

/** `connection` is Node's own affair; cookies are sent one a line. */
function headersOf(headers: Headers): Record<string, string | string[]> {
  const plain: Record<string, string | string[]> = {}
  headers.forEach((value, name) => {
    if (name !== 'connection' && name !== 'set-cookie') plain[name] = value
  })
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) plain['set-cookie'] = cookies
  return plain
}
