import type { DecideApproval } from './approval-card.tsx'
import type { AnswerPiece } from './message-blocks.ts'
import { RichText } from './rich-text.tsx'
import { Thinking } from './thinking.tsx'
import { ToolCard } from './tool-card.tsx'

/** What an answer shows. */
export interface AnswerProps {
  readonly pieces: readonly AnswerPiece[]
  /** How it ended, when it is not whole. */
  readonly broken: 'stopped' | 'failed' | undefined
  readonly isBusy: boolean
  readonly isLast: boolean
  readonly onDecide: DecideApproval
  readonly onAnswerAgain: () => void
}

const brokenNotes = {
  stopped: 'Stopped. What was written is kept.',
  failed: 'This answer failed before it was whole.',
} as const

/** What the assistant wrote and did, in order. */
export function Answer({ pieces, broken, isBusy, isLast, onDecide, onAnswerAgain }: AnswerProps) {
  const last = pieces.at(-1)
  const isWriting = last?.kind === 'text' && last.isOpen
  const isToolRunning = last?.kind === 'tool' && last.stage !== 'done'
  if (pieces.length === 0 && broken === undefined && !isBusy) return undefined
  return (
    <article className="message message-answer" aria-label="assistant">
      {pieces.map((piece) => (
        <Piece key={piece.key} piece={piece} onDecide={onDecide} />
      ))}
      {isBusy && !isWriting && !isToolRunning && <Thinking />}
      {broken !== undefined && (
        <p className="message-note">
          {brokenNotes[broken]}
          {isLast && (
            <button type="button" className="link-button" onClick={onAnswerAgain}>
              Answer again
            </button>
          )}
        </p>
      )}
    </article>
  )
}

interface PieceProps {
  readonly piece: AnswerPiece
  readonly onDecide: DecideApproval
}

function Piece({ piece, onDecide }: PieceProps) {
  switch (piece.kind) {
    case 'text':
      return <RichText text={piece.text} />
    case 'reasoning':
      return (
        <details className="reasoning">
          <summary>{piece.isOpen ? 'Thinking…' : 'Thoughts'}</summary>
          <RichText text={piece.text} />
        </details>
      )
    case 'tool':
      return <ToolCard tool={piece} onDecide={onDecide} />
    case 'file':
      return <Attachment name={piece.name} url={piece.url} mediaType={piece.mediaType} />
  }
}

interface AttachmentProps {
  readonly name: string
  readonly url: string
  readonly mediaType: string
}

/** An image is shown; any other file is only named: what a model links to is not made clickable. */
function Attachment({ name, url, mediaType }: AttachmentProps) {
  if (mediaType.startsWith('image/') && url.startsWith('data:image/')) {
    return <img className="message-image" src={url} alt={name} />
  }
  return <p className="message-file">{name}</p>
}
