import { useEffect, useId, useRef, useState } from 'react'
import { readableJson } from './readable-json.ts'

/** Tells the chat what a person decided about an approval. */
export type DecideApproval = (approvalId: string, approved: boolean, reason: string) => void

/** What an approval card asks. */
export interface ApprovalCardProps {
  readonly question: string
  readonly toolName: string
  readonly input: unknown
  readonly onDecide: (approved: boolean, reason: string) => void
}

/**
 * Asks whether a tool may run.
 *
 * It is announced when it appears, and takes the focus unless the person is busy elsewhere on the page: typing is never interrupted.
 */
export function ApprovalCard({ question, toolName, input, onDecide }: ApprovalCardProps) {
  const [reason, setReason] = useState('')
  const [isDecided, setIsDecided] = useState(false)
  const card = useRef<HTMLElement>(null)
  const titleId = useId()
  const reasonId = useId()

  useEffect(() => {
    if (isFocusFree()) card.current?.focus({ preventScroll: true })
  }, [])

  function decide(approved: boolean): void {
    if (isDecided) return
    setIsDecided(true)
    onDecide(approved, reason.trim())
  }

  return (
    <section ref={card} className="approval" aria-labelledby={titleId} tabIndex={-1}>
      <p className="eyebrow" aria-live="polite">
        Needs your approval
      </p>
      <h3 id={titleId}>{question}</h3>
      <pre tabIndex={0} aria-label={`Input of ${toolName}`}>
        <code>{readableJson(input)}</code>
      </pre>
      <label className="field-label" htmlFor={reasonId}>
        Reason <span className="optional">(optional)</span>
      </label>
      <input
        id={reasonId}
        className="input"
        type="text"
        maxLength={500}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      <div className="button-row">
        <button
          type="button"
          className="button button-primary"
          disabled={isDecided}
          onClick={() => decide(true)}
        >
          Approve
        </button>
        <button type="button" className="button" disabled={isDecided} onClick={() => decide(false)}>
          Deny
        </button>
      </div>
    </section>
  )
}

/** Whether nobody would miss the focus: it is nowhere, or in a text field that is empty. */
function isFocusFree(): boolean {
  const focused = document.activeElement
  if (focused === null || focused === document.body) return true
  return focused instanceof HTMLTextAreaElement && focused.value === ''
}
