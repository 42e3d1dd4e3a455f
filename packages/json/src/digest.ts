import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { canonicalBytes } from './canonical-json.ts'

/** SHA-256 as 64 lower-case hex digits. Synchronous, and the same wherever JavaScript runs. */
export function sha256Hex(bytes: Uint8Array): string {
  return bytesToHex(sha256(bytes))
}

/** SHA-256 of a value's canonical bytes: equal values, equal digests. @throws the codes of `checkJsonValue` */
export function digestJson(value: unknown): string {
  return sha256Hex(canonicalBytes(value))
}
