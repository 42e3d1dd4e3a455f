import { generateId } from 'ai'
import { useCallback, useEffect, useState } from 'react'
import { ChatView } from '../chat/chat-view.tsx'
import { ConnectionStatus } from '../chat/connection-status.tsx'
import type { Connection } from '../chat/open-chat-state.ts'
import { ChatList } from '../chats/chat-list.tsx'
import { useChatList } from '../chats/use-chat-list.ts'
import { RunsPanel } from '../runs/runs-panel.tsx'
import { useRuns } from '../runs/use-runs.ts'
import { Drawer } from './drawer.tsx'
import { Icon } from './icon.tsx'
import { useInfo } from './use-info.ts'
import { useRoute } from './use-route.ts'

/** The order desk: chats on the left, the chat in the middle, runs on the right. */
export function App() {
  const { chatId: routed, go } = useRoute()
  const [fresh, setFresh] = useState(() => ({ id: newChatId(), isAccepted: false }))
  const [connection, setConnection] = useState<Connection>({ state: 'idle' })
  const [drawer, setDrawer] = useState<'chats' | 'runs'>()
  const info = useInfo()
  const list = useChatList()
  const runs = useRuns()
  const { refresh: refreshChats } = list
  const { refresh: refreshRuns } = runs

  // A chat that the server has taken is a chat like any other once the page has turned away from it.
  if (fresh.isAccepted && routed !== fresh.id) setFresh({ id: newChatId(), isAccepted: false })
  const chatId = routed ?? fresh.id

  const onAccepted = useCallback(
    (accepted: string) => {
      refreshChats()
      refreshRuns()
      if (accepted !== fresh.id || fresh.isAccepted) return
      go(accepted, 'replace')
      setFresh({ id: accepted, isAccepted: true })
    },
    [fresh, go, refreshChats, refreshRuns],
  )

  const onWorkDone = useCallback(() => {
    refreshChats()
    refreshRuns()
  }, [refreshChats, refreshRuns])

  const closeDrawer = useCallback(() => setDrawer(undefined), [])

  function select(next: string | undefined): void {
    go(next)
    closeDrawer()
  }

  const title = list.chats.find(({ id }) => id === chatId)?.title
  useEffect(() => {
    document.title = title === undefined ? 'Order desk' : `${title} · Order desk`
  }, [title])

  const asking = runs.runs.filter(({ questions }) => questions.length > 0).length
  return (
    <div className="shell">
      <header className="topbar">
        <button
          type="button"
          className="icon-button only-narrow"
          aria-expanded={drawer === 'chats'}
          onClick={() => setDrawer('chats')}
        >
          <Icon name="chats" />
          <span className="visually-hidden">Chats</span>
        </button>
        <h1>
          Order desk<span className="topbar-by"> on Holdfast</span>
        </h1>
        <ConnectionStatus
          isReconnecting={
            connection.state === 'reconnecting' || (connection.state === 'idle' && runs.isStale)
          }
        />
        {info !== undefined && (
          <p
            className={`model-badge${info.isDemo ? ' is-demo' : ''}`}
            title="The model that answers"
          >
            <span className="visually-hidden">Model: </span>
            {info.model}
          </p>
        )}
        <button
          type="button"
          className="icon-button only-medium"
          aria-expanded={drawer === 'runs'}
          onClick={() => setDrawer('runs')}
        >
          <Icon name="runs" />
          <span className="visually-hidden">
            Runs{asking > 0 ? `, ${asking} waiting for you` : ''}
          </span>
          {asking > 0 && (
            <span className="count" aria-hidden="true">
              {asking}
            </span>
          )}
        </button>
      </header>
      <div className="columns">
        <Drawer side="left" label="chats" isOpen={drawer === 'chats'} onClose={closeDrawer}>
          <ChatList
            list={list}
            selected={routed}
            onNew={() => select(undefined)}
            onSelect={select}
            onForgotten={(forgotten) => {
              if (forgotten === chatId) go(undefined, 'replace')
            }}
          />
        </Drawer>
        <main className="chat">
          <ChatView
            chatId={chatId}
            isNew={chatId === fresh.id}
            isDemo={info?.isDemo === true}
            onAccepted={onAccepted}
            onWorkDone={onWorkDone}
            onConnection={setConnection}
            onNew={() => select(undefined)}
          />
        </main>
        <Drawer side="right" label="runs" isOpen={drawer === 'runs'} onClose={closeDrawer}>
          <RunsPanel runs={runs} />
        </Drawer>
      </div>
    </div>
  )
}

function newChatId(): string {
  return `chat-${generateId()}`
}
