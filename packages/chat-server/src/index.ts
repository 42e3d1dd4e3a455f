export { createChatHandler } from './chat-handler.ts'
export type { ChatHandler, ChatHandlerLimits, ChatHandlerOptions } from './chat-handler.ts'
export type { Authorization, Authorize } from './authorize.ts'
export type { AgentChoice, ChatStore, OnBusy } from './chat-ports.ts'
export type { JournalReader } from './run-journal.ts'
export type { Settled } from './settle.ts'

export { createConversationReader } from './conversation.ts'
export type { ConversationReaderOptions } from './conversation.ts'

export type { ChatInterrupt, ChatMessages, ChatWaiting } from './chat-messages.ts'
export type { UiAssistantMessage, UiPart } from './ui-message.ts'
export type { ChatList, ChatSummary } from './chat-list.ts'
export type { Stopped } from './stop.ts'
export type { HttpAnswer } from './http-status.ts'
export { httpAnswers } from './http-status.ts'

export { createRunsHandler } from './runs-handler.ts'
export type { RunsHandler, RunsHandlerOptions } from './runs-handler.ts'
