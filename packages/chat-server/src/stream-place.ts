import { isTerminal, type StoredRun, streamIdOf, visibleStatus } from '@holdfast/core'
import { wholeStreamIdOf } from './whole-stream.ts'

/** Which stream answers a request. */
export interface StreamPlace {
  readonly runId: string
  readonly streamId: string
}

/** The stream that a run writes now or will write next. */
export function openStreamOf(run: StoredRun): StreamPlace {
  const { id, stream } = run.record
  return { runId: id, streamId: streamIdOf(id, stream + 1) }
}

/**
 * All that a run has written and writes now, as one stream from its beginning: for a page whose last message is not the run's, so that it
 * makes the run's message whole and does not continue what it has not got.
 */
export function wholeMessageOf(run: StoredRun): StreamPlace {
  const { id, stream } = run.record
  return { runId: id, streamId: wholeStreamIdOf(id, stream + 1) }
}

/** The stream with the newest chunks: the open one, or the last one when the run waits for a person or has ended. */
export function newestStreamOf(run: StoredRun): StreamPlace {
  const { id, stream, status } = run.record
  const isSilent = isTerminal(status) || visibleStatus(run) === 'interrupted'
  return isSilent && stream > 0
    ? { runId: id, streamId: streamIdOf(id, stream) }
    : openStreamOf(run)
}

/** The first stream of a run, which may not have begun. */
export function firstStreamOf(runId: string): StreamPlace {
  return { runId, streamId: streamIdOf(runId, 1) }
}
