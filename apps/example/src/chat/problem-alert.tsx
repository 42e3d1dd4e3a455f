import { Icon } from '../shell/icon.tsx'
import { type Problem, type Remedy, remedyLabel } from './problem.ts'

/** What the alert needs. */
export interface ProblemAlertProps {
  readonly problem: Problem
  readonly onRemedy: (remedy: Remedy) => void
  readonly onDismiss: () => void
}

/** Says what went wrong, and what can be done. */
export function ProblemAlert({ problem, onRemedy, onDismiss }: ProblemAlertProps) {
  return (
    <div className="alert" role="alert">
      <Icon name="alert" />
      <div className="alert-text">
        <strong>{problem.title}</strong>
        <p>{problem.detail}</p>
      </div>
      <div className="button-row">
        <button
          type="button"
          className="button button-small"
          onClick={() => onRemedy(problem.remedy)}
        >
          {remedyLabel(problem.remedy)}
        </button>
        <button type="button" className="button button-quiet button-small" onClick={onDismiss}>
          Dismiss
        </button>
      </div>
    </div>
  )
}
