// #region server
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { createChatHandler } from '@holdfast/chat-server'
import type { ChatHandlerOptions } from '@holdfast/chat-server'
import { toNodeListener } from '@holdfast/chat-server/node'
import { sessionIdFor } from '@holdfast/core'

/** Chats at /api/chat, for `useChat` with `@holdfast/chat-client`, over any supervisors and store. */
export function chatServer(ports: Pick<ChatHandlerOptions, 'store' | 'supervisors'>): Server {
  const chats = createChatHandler({
    ...ports,
    agent: { name: 'assistant', version: 'v1' },
    authorize(request) {
      const user = request.headers.get('x-user') // your own sign-in
      return user === null ? undefined : { sessionId: sessionIdFor(user) }
    },
  })
  return createServer(toNodeListener((request) => chats.handle(request)))
}
// #endregion server
