import type { RunView } from './run-view.ts'
import { isActive } from './run-view.ts'
import { progressPercent } from './run-words.ts'

/** How far a run is: a bar while it is going, with what it says of it. */
export function RunProgress({ run }: { readonly run: RunView }) {
  const { progress } = run
  const percent = progressPercent(run)
  if (progress === undefined || !isActive(run)) return undefined
  return (
    <div className="run-progress">
      {percent !== undefined && (
        <div
          className="bar"
          role="progressbar"
          aria-label="progress"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={percent}
        >
          <div className="bar-fill" style={{ inlineSize: `${percent}%` }} />
        </div>
      )}
      <p className="run-progress-text">
        <span>{progress.message ?? ''}</span>
        <span>
          {progress.total === undefined
            ? `${progress.completed} done`
            : `${progress.completed} of ${progress.total}`}
        </span>
      </p>
    </div>
  )
}
