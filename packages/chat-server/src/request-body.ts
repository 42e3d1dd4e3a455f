import { ErrorCode, HoldfastError, type JsonObject } from '@holdfast/core'
import { isJsonObject, parseStrictJson } from '@holdfast/json'

/** How deep and wide a body may be. A chat's whole history may be in it. */
const maxDepth = 64
const maxProperties = 200_000

/**
 * Reads a request's body as one JSON object, strictly and within `maxBytes`; the rest of a larger
 * one is not read.
 *
 * `optional`: an empty body is `{}`, whatever its type.
 *
 * @throws `content_type_unsupported`, `body_too_large`, `arguments_invalid` (JSON, but no object),
 * the codes of `parseStrictJson`
 */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
  { optional = false }: { readonly optional?: boolean } = {},
): Promise<JsonObject> {
  const isEmpty = request.body === null || request.headers.get('content-length') === '0'
  if (optional && isEmpty) return {}
  assertJson(request.headers)
  const declared = Number(request.headers.get('content-length') ?? '0')
  if (declared > maxBytes) {
    await request.body?.cancel()
    throw bodyTooLarge(maxBytes)
  }
  const bytes = await readBounded(request, maxBytes)
  if (optional && bytes.byteLength === 0) return {}
  const value = parseStrictJson(bytes, { maxBytes, maxDepth, maxProperties })
  if (isJsonObject(value)) return value
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'The body must be a JSON object.',
  })
}

function assertJson(headers: Headers): void {
  const type = headers.get('content-type')?.trim() ?? ''
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  const isJson = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i.test(type)
  if (isJson && encoding === 'identity') return
  throw new HoldfastError(ErrorCode.contentTypeUnsupported, {
    message: 'The body must be application/json in UTF-8, not compressed.',
  })
}

async function readBounded(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.body === null) return new Uint8Array()
  const pieces: Uint8Array[] = []
  let length = 0
  const reader = request.body.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > maxBytes) {
      await reader.cancel()
      throw bodyTooLarge(maxBytes)
    }
    pieces.push(value)
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

function bodyTooLarge(maxBytes: number): HoldfastError {
  return new HoldfastError(ErrorCode.bodyTooLarge, {
    message: `The body is above the limit of ${maxBytes} bytes.`,
    details: { limit: maxBytes },
  })
}
