import type { UIMessage } from 'ai'
import { Icon } from '../shell/icon.tsx'
import type { DecideApproval } from './approval-card.tsx'
import { Answer } from './answer.tsx'
import { type LogBlock, logBlocks } from './message-blocks.ts'
import type { OpenChatState, WaitingMessage } from './open-chat-state.ts'
import { RichText } from './rich-text.tsx'
import { Thinking } from './thinking.tsx'
import { useStickToEnd } from './use-stick-to-end.ts'

/** What the log shows. */
export interface MessageLogProps {
  readonly messages: readonly UIMessage[]
  readonly state: OpenChatState
  readonly isBusy: boolean
  readonly onDecide: DecideApproval
  readonly onSendWaiting: (id: string) => void
  readonly onDiscardWaiting: (id: string) => void
  readonly onAnswerAgain: () => void
  readonly onShowEarlier: () => void
}

/** Everything that was said, in order; it keeps to its end while the person is there. */
export function MessageLog(props: MessageLogProps) {
  const {
    messages,
    state,
    isBusy,
    onDecide,
    onSendWaiting,
    onDiscardWaiting,
    onAnswerAgain,
    onShowEarlier,
  } = props
  const blocks = logBlocks(messages)
  const lastKey = blocks.at(-1)?.key
  const known = new Set(blocks.map(({ messageId }) => messageId))
  const waiting = state.waiting.filter(({ id }) => !known.has(id))
  const { log, isAtEnd, toEnd } = useStickToEnd()

  return (
    <div className="log-frame">
      <div
        ref={log}
        className="log"
        role="log"
        aria-label="messages"
        aria-busy={isBusy}
        tabIndex={0}
      >
        <div className="log-column">
          {state.hasEarlier && (
            <button type="button" className="button button-quiet" onClick={onShowEarlier}>
              Earlier messages
            </button>
          )}
          {blocks.map((block) =>
            block.kind === 'person' ? (
              <Person key={block.key} block={block} />
            ) : (
              <Answer
                key={block.key}
                pieces={block.pieces}
                broken={block.isLastOfMessage ? state.broken.get(block.messageId) : undefined}
                isBusy={isBusy && block.key === lastKey}
                isLast={block.key === lastKey}
                onDecide={onDecide}
                onAnswerAgain={onAnswerAgain}
              />
            ),
          )}
          {isBusy && blocks.at(-1)?.kind !== 'answer' && <Thinking />}
          {waiting.map((message) => (
            <Waiting
              key={message.id}
              message={message}
              onSendAgain={() => onSendWaiting(message.id)}
              onDiscard={() => onDiscardWaiting(message.id)}
            />
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="button to-end" onClick={toEnd}>
          <Icon name="down" />
          Latest
        </button>
      )}
    </div>
  )
}

function Person({ block }: { readonly block: Extract<LogBlock, { kind: 'person' }> }) {
  return (
    <article className="message message-person" aria-label="you">
      <RichText text={block.text} />
      {block.files.map((file) => (
        <p key={file} className="message-file">
          {file}
        </p>
      ))}
    </article>
  )
}

const waitingNotes: Readonly<Record<WaitingMessage['state'], string>> = {
  sending: 'Sending…',
  accepted: 'Received. The answer takes it up at its next step.',
  held: 'Held back by the stop. It goes out with your next message.',
  failed: 'Not sent.',
}

interface WaitingProps {
  readonly message: WaitingMessage
  readonly onSendAgain: () => void
  readonly onDiscard: () => void
}

function Waiting({ message, onSendAgain, onDiscard }: WaitingProps) {
  return (
    <article className="message message-person message-waiting" aria-label="you">
      <RichText text={message.text} />
      <p className="message-note">
        {waitingNotes[message.state]}
        {message.problem !== undefined && ` ${message.problem}`}
        {message.state === 'failed' && (
          <>
            <button type="button" className="link-button" onClick={onSendAgain}>
              Send again
            </button>
            <button type="button" className="link-button" onClick={onDiscard}>
              Discard
            </button>
          </>
        )}
      </p>
    </article>
  )
}
