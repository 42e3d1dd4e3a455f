import type { Log } from '@holdfast/core'

/** Writes warnings and errors as one JSON line each. Causes are for the operator, not for users. */
export const stderrLog: Log = {
  write({ level, event, message, fields, cause }) {
    if (level !== 'warn' && level !== 'error') return
    const line = {
      level,
      event,
      message,
      ...(fields === undefined ? {} : { fields }),
      ...(cause === undefined ? {} : { cause: cause instanceof Error ? cause.stack : cause }),
    }
    process.stderr.write(`${JSON.stringify(line)}\n`)
  },
}
