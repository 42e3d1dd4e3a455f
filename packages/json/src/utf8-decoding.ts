import { ErrorCode, HoldfastError } from '@holdfast/core'
import { utf8Length } from './bytes.ts'

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const replacement = '\ufffd'

/**
 * The text of UTF-8 bytes; a byte order mark stays part of it.
 *
 * @throws `json_unicode_invalid` with the offset of the first byte that is out of place
 */
export function textFromUtf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    throw new HoldfastError(ErrorCode.jsonUnicodeInvalid, {
      message: 'JSON text is not valid UTF-8',
      details: { offset: invalidOffset(bytes) },
    })
  }
}

/** Where the first replacement character stands that the bytes do not spell themselves. */
function invalidOffset(bytes: Uint8Array): number {
  const text = lenient.decode(bytes)
  let offset = 0
  let from = 0
  for (;;) {
    const index = text.indexOf(replacement, from)
    if (index === -1) return offset
    offset += utf8Length(text.slice(from, index))
    const spelt = bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd
    if (!spelt) return offset
    offset += utf8Length(replacement)
    from = index + 1
  }
}
