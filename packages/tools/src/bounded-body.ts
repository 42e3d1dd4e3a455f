/** The body of a request as text; `undefined` when it has more bytes than allowed. */
export async function boundedBody(request: Request, maxBytes: number): Promise<string | undefined> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) return undefined
  const decoder = new TextDecoder()
  const reader = request.body?.getReader()
  let text = ''
  let bytes = 0
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) return text + decoder.decode()
    bytes += part.value.byteLength
    if (bytes > maxBytes) {
      await reader?.cancel()
      return undefined
    }
    text += decoder.decode(part.value, { stream: true })
  }
}
