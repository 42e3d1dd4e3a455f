import { isHoldfastError } from '@holdfast/core'

/** One clear line for what a person can mend; the whole error for a defect. */
export function explain(error: unknown): string {
  if (isHoldfastError(error)) return error.message
  if (!(error instanceof Error)) return String(error)
  switch ('code' in error ? error.code : undefined) {
    case 'EADDRINUSE':
      return 'The port is in use. Choose another with PORT.'
    case 'EACCES':
      return 'The address or file may not be used by this user.'
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'HOST must be an address of this machine.'
    default:
      // What the operating system refused names the file and the reason.
      return 'syscall' in error ? `${error.message}.` : (error.stack ?? error.message)
  }
}
