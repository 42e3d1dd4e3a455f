import { useState } from 'react'
import { shortId } from '../chat/tool-title.ts'
import { timeAgo } from '../chats/time-ago.ts'
import { useNow } from '../shell/use-now.ts'
import { cancelRun } from './run-api.ts'
import { RunHistory } from './run-history.tsx'
import { RunProgress } from './run-progress.tsx'
import { RunQuestion } from './run-question.tsx'
import { RunResult } from './run-result.tsx'
import type { RunNode } from './run-tree.ts'
import { isActive } from './run-view.ts'
import { runTitle, statusWords } from './run-words.ts'

/** What a run's card needs. */
export interface RunCardProps {
  readonly node: RunNode
  /** Something was done here that changes the run. */
  readonly onChanged: () => void
}

/** A run: how it is, how far it is, what it asks, what came of it, and what happened. */
export function RunCard({ node, onChanged }: RunCardProps) {
  const { run, children } = node
  const [problem, setProblem] = useState<string>()
  const [isCancelling, setIsCancelling] = useState(false)
  const now = useNow()
  const isGoing = isActive(run)

  async function cancel(): Promise<void> {
    setIsCancelling(true)
    setProblem(undefined)
    try {
      await cancelRun(run.id)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'The run could not be cancelled.')
    }
    setIsCancelling(false)
    onChanged()
  }

  return (
    <article className={`run run-${run.status}`} aria-label={run.definition}>
      <header className="run-head">
        <h3>{runTitle(run)}</h3>
        <p className="run-status" role="status" aria-label="run status">
          {statusWords(run)}
        </p>
      </header>
      <div className="run-meta">
        <span title={run.id}>{shortId(run.id)}</span>
        <span>{timeAgo(run.createdAt, now)}</span>
        {isGoing && (
          <button
            type="button"
            className="link-button run-cancel"
            disabled={isCancelling || run.isCancelRequested}
            onClick={() => void cancel()}
          >
            Cancel
          </button>
        )}
      </div>
      <RunProgress run={run} />
      {run.questions.map((question) => (
        <RunQuestion key={question.id} runId={run.id} question={question} onAnswered={onChanged} />
      ))}
      {run.error !== undefined && <p className="run-error">{run.error}</p>}
      {isGoing && problem !== undefined && (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
      {run.status === 'completed' && <RunResult runId={run.id} />}
      <RunHistory runId={run.id} />
      {children.length > 0 && (
        <div className="run-children">
          {children.map((child) => (
            <RunCard key={child.run.id} node={child} onChanged={onChanged} />
          ))}
        </div>
      )}
    </article>
  )
}
