import { ErrorCode, HoldfastError } from '@holdfast/core'

// None of these names the id: so the answers to an id that is another session's and to one that
// never was are equal byte by byte.

/** No such chat in this session. */
export function chatNotFound(): HoldfastError {
  return new HoldfastError(ErrorCode.chatNotFound, { message: 'No such chat.' })
}

/** No such stream or chat in this session. */
export function streamNotFound(): HoldfastError {
  return new HoldfastError(ErrorCode.streamNotFound, { message: 'No such stream or chat.' })
}

/** No such path. */
export function pathNotFound(): HoldfastError {
  return new HoldfastError(ErrorCode.notFound, { message: 'Nothing is served here.' })
}

/** No such run in this session. */
export function runUnknown(): HoldfastError {
  return new HoldfastError(ErrorCode.runNotFound, { message: 'No such run.' })
}
