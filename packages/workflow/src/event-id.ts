import { sha256Hex } from '@holdfast/json'
import { v5 as uuidV5 } from 'uuid'
import type { ActivityKind } from '@holdfast/core'

/** The namespace of activity ids; fixed by the original's published vectors. */
const eventNamespace = 'd5e20f2c-8897-5bc0-9de8-3d65d4ebf053'
const noStep = new Uint8Array(16)

/** What makes an activity's id. */
export interface EventIdentity {
  readonly sessionId: string
  readonly runId: string
  readonly kind: ActivityKind
  readonly revision: number
  readonly stepId?: string
  /** Tells apart activities that are alike in all else. Default 0. */
  readonly ordinal?: number
}

/**
 * The id of an activity: the same facts always give the same UUID.
 *
 * SHA-256 over eight-byte big-endian length-prefixed fields, cut to 16 bytes with version 5 and the
 * RFC 9562 variant.
 */
export function eventIdOf(identity: EventIdentity): string {
  const fields = [
    uuidBytes(eventNamespace),
    uuidBytes(identity.sessionId),
    uuidBytes(identity.runId),
    new TextEncoder().encode(identity.kind),
    unsigned(identity.revision, 8),
    identity.stepId === undefined ? noStep : uuidBytes(identity.stepId),
    unsigned(identity.ordinal ?? 0, 4),
  ]
  return uuidFromHash(sha256Hex(lengthPrefixed(fields)))
}

function lengthPrefixed(fields: readonly Uint8Array[]): Uint8Array {
  const parts = fields.flatMap((field) => [unsigned(field.length, 8), field])
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** The first 16 bytes of a hash with version 5 and the variant set, as text. */
function uuidFromHash(hex: string): string {
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  const digits = `${hex.slice(0, 12)}5${hex.slice(13, 16)}${variant}${hex.slice(18, 32)}`
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-')
}

/** The 16 bytes of a UUID's text. Any version: ids made elsewhere need not be RFC 9562's. */
function uuidBytes(text: string): Uint8Array {
  const hex = text.replaceAll('-', '')
  return Uint8Array.from({ length: 16 }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  )
}

function unsigned(value: number, bytes: 4 | 8): Uint8Array {
  const field = new Uint8Array(bytes)
  const view = new DataView(field.buffer)
  if (bytes === 8) view.setBigUint64(0, BigInt(value))
  else view.setUint32(0, value)
  return field
}

/** The id of an operation of a run: UUIDv5 of the run and the operation's path. */
export function stepIdOf(runId: string, path: string): string {
  return uuidV5(path, uuidBytes(runId))
}

/** The id of an interrupt: deterministic, so that replay and a second asking give the same one. */
export function interruptIdOf(runId: string, path: string): string {
  return uuidV5(`interrupt:${path}`, uuidBytes(runId))
}
