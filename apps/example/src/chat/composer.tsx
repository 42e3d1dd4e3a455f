import { type KeyboardEvent, type Ref, useId, useLayoutEffect, useRef, useState } from 'react'
import { Icon } from '../shell/icon.tsx'

/** What the composer needs. */
export interface ComposerProps {
  /** An answer is being written: what is sent is told to it. */
  readonly isBusy: boolean
  readonly isStopping: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
  readonly ref?: Ref<HTMLTextAreaElement>
}

const maxHeight = 200

/** Where a person writes. Enter sends, Shift+Enter begins a new line; an empty message is not sent. */
export function Composer({ isBusy, isStopping, onSend, onStop, ref }: ComposerProps) {
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement | null>(null)
  const hintId = useId()

  useLayoutEffect(() => {
    const element = field.current
    if (element === null) return
    element.style.height = 'auto'
    element.style.height = `${Math.min(maxHeight, element.scrollHeight)}px`
  })

  function send(): void {
    const trimmed = text.trim()
    if (trimmed === '') return
    onSend(trimmed)
    setText('')
    field.current?.focus()
  }

  function onKeyDown(event: KeyboardEvent): void {
    // While an input method composes a character, Enter belongs to it.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }

  return (
    <form
      className="composer"
      aria-label="write a message"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <div className="composer-box">
        <textarea
          ref={(element) => {
            field.current = element
            if (typeof ref === 'function') ref(element)
            else if (ref !== null && ref !== undefined) ref.current = element
          }}
          aria-label="message"
          aria-describedby={hintId}
          placeholder={isBusy ? 'Add something while it answers…' : 'Ask the order desk…'}
          rows={1}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-buttons">
          {isBusy && (
            <button type="button" className="button" disabled={isStopping} onClick={onStop}>
              <Icon name="stop" />
              {isStopping ? 'Stopping…' : 'Stop'}
            </button>
          )}
          <button type="submit" className="button button-primary" disabled={text.trim() === ''}>
            <Icon name="send" />
            Send
          </button>
        </div>
      </div>
      <p id={hintId} className="composer-hint">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd>+<kbd>Enter</kbd> begins a new line
      </p>
    </form>
  )
}
