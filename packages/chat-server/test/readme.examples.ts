// The example of README.md, so that it compiles.
import { createServer } from 'node:http'
import { sessionIdFor, type Store, type Supervisors } from '@holdfast/core'
import { createChatHandler } from '@holdfast/chat-server'
import { toNodeListener } from '@holdfast/chat-server/node'

export function serve(
  store: Store,
  supervisors: Supervisors,
  userOf: (request: Request) => string,
) {
  // #region serve
  const chats = createChatHandler({
    authorize: (request) => ({ sessionId: sessionIdFor(userOf(request)) }),
    store,
    supervisors,
    agent: { name: 'assistant', version: 'v1' },
    onBusy: 'steer',
  })
  createServer(toNodeListener((request) => chats.handle(request))).listen(3000)
  // #endregion serve
}
