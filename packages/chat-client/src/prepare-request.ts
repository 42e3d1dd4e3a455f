import type { UIMessage } from 'ai'
import {
  mergeHeaders,
  type PreparedRequest,
  resolve,
  resourceUrl,
  withStartIndex,
} from './request.ts'
import type {
  ReconnectToStreamOptions,
  SendMessagesOptions,
  StopOptions,
  WorkflowChatTransportOptions,
} from './transport-options.ts'

/** What of a transport's options shapes its requests. */
export type RequestSettings<TMessage extends UIMessage> = Pick<
  WorkflowChatTransportOptions<TMessage>,
  | 'body'
  | 'credentials'
  | 'headers'
  | 'prepareReconnectToStreamRequest'
  | 'prepareSendMessagesRequest'
> & { readonly api: string }

/** Which stream a reconnect is for. */
export interface ReconnectTarget {
  /** The URL that the stream's is below. */
  readonly api: string
  /** The stream's id. Absent: not known yet, so the chat's id is asked for. */
  readonly runId?: string
  readonly startIndex: number
}

/**
 * The POST that sends messages: the caller's body and headers, and `id`, `messages`, `trigger` and
 * `messageId`, unless the hook replaces them.
 */
export async function prepareSend<TMessage extends UIMessage>(
  settings: RequestSettings<TMessage>,
  call: SendMessagesOptions<TMessage>,
): Promise<PreparedRequest> {
  const { chatId, messages, trigger, messageId } = call
  const basics = await resolveBasics(settings, call)
  const prepared = await settings.prepareSendMessagesRequest?.({
    ...basics,
    id: chatId,
    api: settings.api,
    messages,
    trigger,
    messageId,
  })
  return {
    url: prepared?.api ?? settings.api,
    init: {
      method: 'POST',
      headers: mergeHeaders(
        { 'content-type': 'application/json', accept: 'text/event-stream' },
        prepared?.headers ?? basics.headers,
      ),
      body: JSON.stringify(
        prepared?.body ?? { ...basics.body, id: chatId, messages, trigger, messageId },
      ),
      ...withCredentials(prepared?.credentials ?? basics.credentials),
    },
  }
}

/** The GET for a stream's chunks from an index on. */
export async function prepareReconnect<TMessage extends UIMessage>(
  settings: RequestSettings<TMessage>,
  call: SendMessagesOptions<TMessage> | ReconnectToStreamOptions,
  { api, ...position }: ReconnectTarget,
): Promise<PreparedRequest> {
  const { chatId } = call
  const basics = await resolveBasics(settings, call)
  const url = resourceUrl(api, position.runId ?? chatId, 'stream')
  const prepared = await settings.prepareReconnectToStreamRequest?.({
    ...basics,
    ...position,
    id: chatId,
    chatId,
    api: url,
  })
  return {
    url: withStartIndex(prepared?.api ?? url, position.startIndex),
    init: {
      method: 'GET',
      headers: mergeHeaders({ accept: 'text/event-stream' }, prepared?.headers ?? basics.headers),
      ...withCredentials(prepared?.credentials ?? basics.credentials),
    },
  }
}

/** The POST that stops a chat's run. */
export async function prepareStop<TMessage extends UIMessage>(
  settings: RequestSettings<TMessage>,
  { chatId, headers }: Pick<StopOptions, 'chatId' | 'headers'>,
): Promise<PreparedRequest> {
  return {
    url: resourceUrl(settings.api, chatId, 'cancel'),
    init: {
      method: 'POST',
      headers: mergeHeaders(
        { 'content-type': 'application/json', accept: 'application/json' },
        await resolve(settings.headers),
        headers,
      ),
      body: '{}',
      ...withCredentials(await resolve(settings.credentials)),
    },
  }
}

async function resolveBasics<TMessage extends UIMessage>(
  settings: RequestSettings<TMessage>,
  call: SendMessagesOptions<TMessage> | ReconnectToStreamOptions,
) {
  return {
    requestMetadata: call.metadata,
    body: { ...(await resolve(settings.body)), ...call.body },
    headers: mergeHeaders(await resolve(settings.headers), call.headers),
    credentials: await resolve(settings.credentials),
  }
}

function withCredentials(credentials: RequestCredentials | undefined): {
  credentials?: RequestCredentials
} {
  return credentials === undefined ? {} : { credentials }
}
