import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Absent where no server can be started. */
    postgresUrl: string | undefined
  }
}

/** The server that the suite's global set-up has started; `undefined` where none can be started. */
export function postgresUrl(): string | undefined {
  return inject('postgresUrl')
}
