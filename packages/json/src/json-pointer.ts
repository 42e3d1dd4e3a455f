/** The JSON pointer (RFC 6901) of keys and indexes from the root; empty for the root itself. */
export function jsonPointer(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${escapePointerKey(String(key))}`).join('')
}

/** One key as it stands in a JSON pointer. */
export function escapePointerKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** The keys of a JSON pointer, or `undefined` if the text is none. */
export function pointerKeys(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
