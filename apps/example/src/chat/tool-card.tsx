import { ApprovalCard, type DecideApproval } from './approval-card.tsx'
import type { ToolView } from './message-blocks.ts'
import { readableJson } from './readable-json.ts'
import { Icon, type IconName } from '../shell/icon.tsx'
import { type ToolStage, toolTitle } from './tool-title.ts'

const icons: Readonly<Record<ToolStage, IconName | undefined>> = {
  running: undefined,
  asking: undefined,
  done: 'check',
  failed: 'alert',
  denied: 'cross',
}

/** What a tool call shows. */
export interface ToolCardProps {
  readonly tool: ToolView
  readonly onDecide: DecideApproval
}

/** A tool call: one line that says what it does or did, with its details folded away. Asks where it needs a person's yes. */
export function ToolCard({ tool, onDecide }: ToolCardProps) {
  const { name, input, stage, output, error, approval } = tool
  const title = toolTitle(tool)
  if (stage === 'asking' && approval !== undefined) {
    return (
      <ApprovalCard
        key={approval.id}
        question={title}
        toolName={name}
        input={input}
        onDecide={(approved, reason) => onDecide(approval.id, approved, reason)}
      />
    )
  }
  const icon = icons[stage]
  return (
    <details className={`tool tool-${stage}`}>
      <summary>
        <span className="tool-mark">
          {icon === undefined ? (
            <span className="spinner" aria-hidden="true" />
          ) : (
            <Icon name={icon} />
          )}
        </span>
        <span className="tool-title">{title}</span>
        {approval?.approved === true && <span className="tool-tag">approved by you</span>}
        <span className="fold-mark">
          <Icon name="chevron" />
        </span>
      </summary>
      <div className="tool-body">
        <Json label={`Input of ${name}`} value={input} />
        {output !== undefined && <Json label="Result" value={output} />}
        {error !== undefined && (
          <>
            <h4>Error</h4>
            <p className="tool-error">{error}</p>
          </>
        )}
        {stage === 'denied' && <p className="tool-error">{denialWords(approval?.reason)}</p>}
      </div>
    </details>
  )
}

/** What the server answers for a person who wrote something else instead is said in words. */
function denialWords(reason: string | undefined): string {
  if (reason === 'superseded') return 'Not decided: you wrote something else instead.'
  return reason === undefined ? 'Denied.' : `Denied: ${reason}`
}

function Json({ label, value }: { readonly label: string; readonly value: unknown }) {
  if (value === undefined) return undefined
  return (
    <>
      <h4>{label}</h4>
      <pre tabIndex={0} aria-label={label}>
        <code>{readableJson(value)}</code>
      </pre>
    </>
  )
}
