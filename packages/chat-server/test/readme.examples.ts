// #region server
import { createServer, type Server } from 'node:http'
import { createChatHandler } from '@holdfast/chat-server'
import { toNodeListener } from '@holdfast/chat-server/node'
import { sessionIdFor, type Store, type Supervisors } from '@holdfast/core'

/** Chats at /api/chat; whose they are, your own sign-in says. */
export function chatServer(
  store: Store,
  supervisors: Supervisors,
  userOf: (request: Request) => string | undefined,
): Server {
  const chats = createChatHandler({
    authorize(request) {
      const user = userOf(request)
      return user === undefined ? undefined : { sessionId: sessionIdFor(user) }
    },
    store,
    supervisors,
    agent: { name: 'assistant', version: 'v1' },
  })
  return createServer(toNodeListener((request) => chats.handle(request)))
}
// #endregion server
