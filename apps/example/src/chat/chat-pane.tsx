import { useChat } from '@ai-sdk/react'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import { useOnChange } from '../shell/use-on-change.ts'
import { Composer } from './composer.tsx'
import { DemoNote } from './demo-note.tsx'
import { finishedToolCount } from './message-blocks.ts'
import { MessageLog } from './message-log.tsx'
import type { OpenChat } from './open-chat.ts'
import type { Connection } from './open-chat-state.ts'
import { ProblemAlert } from './problem-alert.tsx'
import { Welcome } from './welcome.tsx'

/** What a chat on the page needs. */
export interface ChatPaneProps {
  readonly open: OpenChat
  readonly isDemo: boolean
  /** A tool has ended or an answer has: runs may have come or changed. */
  readonly onWorkDone: () => void
  readonly onConnection: (connection: Connection) => void
}

/** Milliseconds between two renderings while text is arriving. */
const throttle = 40

/** One chat: what was said, and where to say more. */
export function ChatPane({ open, isDemo, onWorkDone, onConnection }: ChatPaneProps) {
  const { messages, status } = useChat({ chat: open.chat, throttle })
  const state = useSyncExternalStore(open.subscribe, open.state)
  const composer = useRef<HTMLTextAreaElement>(null)
  const isBusy = status === 'submitted' || status === 'streaming'
  const finishedTools = finishedToolCount(messages)
  const { connection } = state

  useOnChange(`${finishedTools} ${isBusy}`, onWorkDone)

  useEffect(() => {
    onConnection(connection)
    return () => onConnection({ state: 'idle' })
  }, [connection, onConnection])

  useEffect(() => {
    composer.current?.focus()
  }, [])

  function send(text: string): void {
    void open.send(text)
    composer.current?.focus()
  }

  const isEmpty = messages.length === 0 && state.waiting.length === 0
  return (
    <>
      {isEmpty && !isBusy ? (
        <div className="log-frame">
          <div className="log" role="log" aria-label="messages" tabIndex={-1}>
            <Welcome isDemo={isDemo} onSend={send} />
          </div>
        </div>
      ) : (
        <MessageLog
          messages={messages}
          state={state}
          isBusy={isBusy}
          onDecide={(approvalId, approved, reason) =>
            void open.decide(approvalId, approved, reason)
          }
          onDiscardWaiting={(id) => open.discardWaiting(id)}
          onSendWaiting={(id) => void open.sendWaiting(id)}
          onAnswerAgain={() => void open.regenerate()}
          onShowEarlier={() => void open.showEarlier()}
        />
      )}
      <div className="chat-foot">
        {state.problem !== undefined && (
          <ProblemAlert
            problem={state.problem}
            onRemedy={(remedy) => void open.remedy(remedy)}
            onDismiss={() => open.dismissProblem()}
          />
        )}
        {isDemo && !isEmpty && <DemoNote onSend={send} />}
        <Composer
          ref={composer}
          isBusy={isBusy}
          isStopping={state.isStopping}
          onSend={send}
          onStop={() => void open.stop()}
        />
      </div>
    </>
  )
}
