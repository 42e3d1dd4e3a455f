import { ErrorCode } from './error-codes.ts'
import { hasErrorCode } from './error.ts'
import type { RunId, SessionId } from './ids.ts'
import type { StreamReader } from './store.ts'

/**
 * Whether a run of this session was purged and its tombstone still stands (30 days by default): what
 * a read that finds no run asks before it says that there never was one.
 *
 * One stream's head is read: of a purged run each is `stream_gone`.
 */
export async function isRunPurged(
  store: StreamReader,
  sessionId: SessionId,
  runId: RunId,
): Promise<boolean> {
  try {
    await store.streamHead(sessionId, runId)
    return false
  } catch (error) {
    if (hasErrorCode(error, ErrorCode.streamGone)) return true
    throw error
  }
}
