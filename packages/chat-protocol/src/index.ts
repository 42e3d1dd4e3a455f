export { parseUiChunk } from './chunk.ts'
export type {
  AbortChunk,
  CustomChunk,
  DataChunk,
  ErrorChunk,
  FileChunk,
  FinishChunk,
  MessageMetadataChunk,
  ParseUiChunkOptions,
  PartDeltaChunk,
  PartEndChunk,
  PartStartChunk,
  ProviderMetadata,
  SourceDocumentChunk,
  SourceUrlChunk,
  StartChunk,
  SteeringMessageChunk,
  StepChunk,
  ToolApprovalRequestChunk,
  ToolApprovalResponseChunk,
  ToolInputAvailableChunk,
  ToolInputDeltaChunk,
  ToolInputErrorChunk,
  ToolInputStartChunk,
  ToolOutputAvailableChunk,
  ToolOutputDeniedChunk,
  ToolOutputErrorChunk,
  UiChunk,
} from './chunk.ts'
export { isTerminalChunk } from './terminal.ts'

export { commentFrame, doneFrame, frameFromChunk, frameFromJson, heartbeatFrame } from './sse.ts'
export type { FrameOptions } from './sse.ts'
export { createSseDecoder } from './sse-decoder.ts'
export type { SseComment, SseDecoder, SseDecoderOptions, SseEvent, SseItem } from './sse-decoder.ts'

export { createFramingRepair, normalizeUIMessageStreamParts, repairFraming } from './framing.ts'
export type { FramingRepair } from './framing.ts'
export { createOrphanFilter } from './orphan-filter.ts'
export type { OrphanFilter } from './orphan-filter.ts'

export {
  indexFromHeader,
  parseStartIndex,
  resolveStartIndex,
  startIndexAfter,
  tailIndexOf,
} from './start-index.ts'
export { createStartTracker, renderableStart } from './renderable-start.ts'
export type { StartTracker } from './renderable-start.ts'

export {
  holdfastRunIdHeader,
  lastEventIdHeader,
  sseResponseHeaders,
  startIndexHeader,
  tailIndexHeader,
  uiMessageStreamHeader,
  uiMessageStreamVersion,
  workflowRunIdHeader,
} from './headers.ts'

export { renderMessage } from './render-message.ts'
export type { RenderedMessage, RenderedPart, RenderedTool } from './render-message.ts'

export { ChatProtocolError, isChatProtocolError } from './error.ts'
export type { ChatProtocolErrorCode } from './error.ts'
