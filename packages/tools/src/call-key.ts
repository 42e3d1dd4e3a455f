import { Limits } from '@holdfast/core'
import { sha256Hex, utf8Length } from '@holdfast/json'

const encoder = new TextEncoder()

/** A key as the supervisor takes it: as it is, or by digest when it is longer than it may be. */
export function callKey(key: string): string {
  return utf8Length(key) <= Limits.storageNameBytes ? key : sha256Hex(encoder.encode(key))
}

/**
 * The key that a model chose, in a space of its own: it can neither find nor take a key that the
 * host uses for starts of its own.
 */
export function modelKey(key: string): string {
  return callKey(`model/${key}`)
}
