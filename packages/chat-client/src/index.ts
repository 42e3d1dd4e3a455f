export { WorkflowChatTransport } from './chat-transport.ts'
export type {
  ChatEndEvent,
  PrepareReconnectRequest,
  ReconnectToStreamOptions,
  SendMessagesOptions,
  StopOptions,
  WorkflowChatTransportOptions,
} from './transport-options.ts'
export type { ChatOutcome, ConnectionChange } from './connection.ts'
export type { BackoffOptions } from './backoff.ts'
export type { Resolvable } from './request.ts'
export type { TransportSystem } from './system.ts'

export { ChatDisconnectedError, ChatTransportError } from './error.ts'
export type { ChatTransportErrorCode } from './error.ts'

export { normalizeUIMessageStreamParts } from '@holdfast/chat-protocol'
