/**
 * A topic's key in twelve characters, for notifications, which are short. Two topics with one hash
 * are told of together: harmless.
 */
export function topicHash(key: string): string {
  let low = 0x9e3779b9
  let high = 0x85ebca6b
  for (let index = 0; index < key.length; index += 1) {
    const code = key.charCodeAt(index)
    low = Math.imul(low ^ code, 2_654_435_761)
    high = Math.imul(high ^ code, 1_597_334_677)
  }
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  return ((high >>> 0) * 0x4000_0000 + ((low >>> 2) & 0x3fff_ffff)).toString(36).padStart(12, '0')
}
