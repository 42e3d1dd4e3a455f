import type { ModelCallStreamPart } from './model-call-part.ts'
import { untilAborted } from './timeouts.ts'

/** Writes the parts of a call, one after another. */
export interface PartWriter {
  /** Resolves when there is room for more. @throws what the reader cancelled with */
  write(part: ModelCallStreamPart): Promise<void>
  /** Closes the stream, or lets go of it; harmless after a failure. */
  end(): Promise<void>
}

/**
 * Takes hold of a writable until `end`. Once the signal has fired, nothing waits for a slow reader any more: the few parts
 * that follow are handed over at once.
 */
export function openPartWriter(
  writable: WritableStream<ModelCallStreamPart>,
  preventClose: boolean,
  signal: AbortSignal,
): PartWriter {
  const writer = writable.getWriter()
  // A reader that goes away is told of by the next write; here it must not be an unhandled rejection.
  void writer.closed.catch(() => undefined)
  return {
    async write(part) {
      if (!signal.aborted) await untilAborted(writer.ready, signal).catch(unlessAborted(signal))
      const written = writer.write(part)
      // What a write rejects with, `ready` of the next one rejects with too.
      void written.catch(() => undefined)
    },
    async end() {
      try {
        if (!preventClose) {
          const closed = writer.close()
          void closed.catch(() => undefined)
          if (!signal.aborted) await closed
        }
      } catch {
        // It was closed or cancelled by its reader.
      } finally {
        writer.releaseLock()
      }
    },
  }
}

/** Lets an abort pass: the part is written all the same. */
function unlessAborted(signal: AbortSignal): (error: unknown) => void {
  return (error) => {
    if (!signal.aborted) throw error
  }
}
