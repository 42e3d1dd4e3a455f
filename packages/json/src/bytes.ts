const encoder = new TextEncoder()
const loneSurrogate = /\p{Surrogate}/u
const base64Url = /^[A-Za-z0-9_-]*$/

/**
 * How many bytes a text has in UTF-8.
 *
 * A lone surrogate counts three, as the replacement character that an encoder writes for it.
 */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    if (isLeading(unit) && isTrailing(text.charCodeAt(index + 1))) index += 1
  }
  return bytes
}

/** Whether a text has more UTF-8 bytes than a limit; most texts need no counting to tell. */
export function exceedsUtf8(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true
  if (text.length * 3 <= maxBytes) return false
  return utf8Length(text) > maxBytes
}

/**
 * The longest beginning of a text that has at most `maxBytes` UTF-8 bytes.
 *
 * Cuts between code points, so a surrogate pair is kept whole or left out whole. Grapheme
 * clusters may be parted.
 */
export function truncateUtf8(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes) return text
  let bytes = 0
  let index = 0
  while (index < text.length) {
    const unit = text.charCodeAt(index)
    const paired = isLeading(unit) && isTrailing(text.charCodeAt(index + 1))
    bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : paired ? 4 : 3
    if (bytes > maxBytes) return text.slice(0, index)
    index += paired ? 2 : 1
  }
  return text
}

/** The UTF-8 bytes of a text. */
export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Where the first surrogate without its partner stands, in UTF-16 units; absent if there is none. */
export function loneSurrogateIndex(text: string): number | undefined {
  const index = text.search(loneSurrogate)
  return index === -1 ? undefined : index
}

/** Bytes as base64url text without padding (RFC 4648 section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * The bytes of an unpadded base64url text, or `undefined` if it is none.
 *
 * Strict: only what {@link toBase64Url} writes is read, so one value has one text. Never throws.
 */
export function fromBase64Url(text: string): Uint8Array | undefined {
  if (!base64Url.test(text) || text.length % 4 === 1) return undefined
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(binary, (unit) => unit.charCodeAt(0))
  return toBase64Url(bytes) === text ? bytes : undefined
}

function isLeading(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isTrailing(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}
