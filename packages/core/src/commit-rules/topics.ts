import { parseStreamId } from '../ids.ts'
import type { RunId, SessionId } from '../ids.ts'
import type { Commit, Receipt, WatchTopic } from '../store.ts'
import { runOfInbox } from './commit-view.ts'

/** The key of topic `work`. */
export const workTopicKey = 'work'

/** A topic as one text, equal for equal topics. */
export function topicKey(topic: WatchTopic): string {
  switch (topic.kind) {
    case 'work':
      return workTopicKey
    case 'run':
      return `run/${topic.sessionId}/${topic.runId}`
    case 'runs':
      return `runs/${topic.sessionId}`
    case 'stream':
      return `stream/${topic.sessionId}/${topic.streamId}`
    case 'log':
      return `log/${topic.sessionId}/${topic.log}`
  }
}

/**
 * The keys of the topics that an accepted commit tells of, except `work`: who owns its session is
 * the store's to know. An inbox tells of its run too, whose unread entries a view shows.
 */
export function topicsOf(commit: Commit, receipt: Receipt): ReadonlySet<string> {
  const { sessionId } = commit
  const keys = new Set<string>()
  for (const [index, write] of commit.writes.entries()) {
    switch (write.kind) {
      case 'input-put':
      case 'blob-put':
      case 'log-unchanged':
      case 'document-put':
      case 'document-delete':
        break
      case 'run-create':
      case 'run-swap':
        addRun(write.record.id)
        break
      case 'journal-append':
        addRun(write.runId)
        break
      case 'run-purge': {
        addRun(write.runId)
        break
      }
      case 'stream-append':
      case 'stream-close':
        if (parseStreamId(write.streamId) !== undefined) {
          keys.add(topicKey({ kind: 'stream', sessionId, streamId: write.streamId }))
        }
        break
      case 'log-append':
      case 'log-close': {
        if (receipt.results[index]?.kind === 'log-skipped') break
        keys.add(topicKey({ kind: 'log', sessionId, log: write.log }))
        const runId = runOfInbox(write.log)
        if (runId !== undefined) addRun(runId)
        break
      }
    }
  }
  return keys

  function addRun(runId: RunId): void {
    keys.add(topicKey({ kind: 'run', sessionId, runId }))
    keys.add(runsKey(sessionId))
  }
}

function runsKey(sessionId: SessionId): string {
  return topicKey({ kind: 'runs', sessionId })
}
