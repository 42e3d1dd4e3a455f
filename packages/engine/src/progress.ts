// What a definition says of itself beside its operations.
import { ErrorCode, HoldfastError, type ArtifactReference } from '@holdfast/core'
import { truncateUtf8 } from '@holdfast/json'
import type { ProgressState } from './journal-totals.ts'

const messageBytes = 1_024
const textLength = 128
const digestPattern = /^[0-9a-f]{64}$/

/** Progress that can be journaled. @throws `arguments_invalid` */
export function checkedProgress(state: ProgressState): ProgressState {
  const { completed, total, message } = state
  if (!isCount(completed) || (total !== undefined && (!isCount(total) || total < completed))) {
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: 'Progress must be whole numbers from 0 up, and no more than the total.',
    })
  }
  return {
    completed,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: truncateUtf8(message, messageBytes) }),
  }
}

/** An artifact that can be journaled. @throws `arguments_invalid` */
export function checkedArtifact(reference: ArtifactReference): ArtifactReference {
  const { id, kind, digest, size } = reference
  const isText = (text: string): boolean => text.length > 0 && text.length <= textLength
  if (isText(id) && isText(kind) && digestPattern.test(digest) && isCount(size)) {
    return { id, kind, digest, size }
  }
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message:
      'An artifact needs an id and a kind of 1 to 128 characters, a SHA-256 digest and a size.',
  })
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0
}
