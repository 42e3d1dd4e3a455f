// What every store shares: the executable meaning of a commit, of a watch and of a read's bounds.
export { checkCommit, checkSessionId, commitFingerprint } from './commit-rules/check-commit.ts'
export { bytesPerPage, pageLimit, pageStart } from './commit-rules/read-bounds.ts'
export { touchedBy } from './commit-rules/touched-by.ts'
export type {
  Touched,
  TouchedCommitId,
  TouchedDocument,
  TouchedKey,
  TouchedLog,
  TouchedLogKey,
  TouchedRun,
  TouchedStream,
} from './commit-rules/touched-by.ts'
export {
  commitIdAt,
  createCommitView,
  documentAt,
  idempotencyKeyAt,
  isRunReady,
  logAt,
  logKeyAt,
  runAt,
  runOfInbox,
  streamAt,
} from './commit-rules/commit-view.ts'
export type {
  CommitView,
  DocumentState,
  IdempotencyState,
  LogState,
  PurgedState,
  RunState,
  SeenCommit,
  SessionState,
  StreamState,
} from './commit-rules/commit-view.ts'
export { judge } from './commit-rules/judge.ts'
export type { CommitEffect, Verdict } from './commit-rules/effect.ts'
export { topicKey, topicsOf, workTopicKey } from './commit-rules/topics.ts'
export { createWatchHub } from './commit-rules/watch-hub.ts'
export type { WatchHub } from './commit-rules/watch-hub.ts'
