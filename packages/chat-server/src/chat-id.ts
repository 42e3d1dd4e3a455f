import { ErrorCode, HoldfastError } from '@holdfast/core'

/** Whether text can be a chat's id: 1 to 64 letters, digits, `_` and `-`. */
export function isChatId(value: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(value)
}

/** The chat id that a body gives. @throws `id_invalid` */
export function parseChatId(value: unknown): string {
  if (typeof value === 'string' && isChatId(value)) return value
  throw new HoldfastError(ErrorCode.idInvalid, {
    message: 'A chat id has 1 to 64 letters, digits, _ and -.',
    details: { field: 'id' },
  })
}

/** Whether text can be a message's id: 1 to 128 letters, digits, `_`, `-`, `.` and `:`. */
export function isMessageId(value: string): boolean {
  return /^[A-Za-z0-9_.:-]{1,128}$/.test(value)
}
