import { useCallback, useState, useSyncExternalStore } from 'react'
import { followHistory, historySoFar } from './history-feed.ts'
import { activityWords } from './run-words.ts'

/** What happened in a run, folded away; live while it is open. */
export function RunHistory({ runId }: { readonly runId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="fold" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>History</summary>
      {isOpen && <HistoryList runId={runId} />}
    </details>
  )
}

function HistoryList({ runId }: { readonly runId: string }) {
  const subscribe = useCallback((onChange: () => void) => followHistory(runId, onChange), [runId])
  const { entries } = useSyncExternalStore(subscribe, () => historySoFar(runId))
  if (entries.length === 0) return <p className="panel-note">Loading…</p>
  return (
    <ol className="history">
      {entries.map(({ id, kind, label, at }) => (
        <li key={id} className={`history-${kind}`}>
          <span>{activityWords(kind, label)}</span>
          <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString()}</time>
        </li>
      ))}
    </ol>
  )
}
