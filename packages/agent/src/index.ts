export { WorkflowAgent } from './workflow-agent.ts'
export type {
  CallInput,
  GenerateOptions,
  GenerationSettings,
  PrepareCall,
  PrepareCallInput,
  PrepareCallResult,
  PrepareStep,
  PrepareStepInput,
  PrepareStepResult,
  SharedSettings,
  DurableContext,
  FilterActiveTools,
  StreamDurablyOptions,
  StreamLiveOptions,
  StreamOptions,
  StreamToWritableOptions,
  ToolChoice,
  ToolName,
  ToolsContextSetting,
  WorkflowAgentOptions,
} from './settings.ts'
export type { Context } from './context.ts'
export type { LanguageModel, ModelResolver } from './language-model.ts'
export type { Instructions } from './prompt.ts'
export type {
  AgentResultExtras,
  AgentWarning,
  WorkflowAgentLiveResult,
  WorkflowAgentGenerateResult,
  WorkflowAgentStreamResult,
} from './results.ts'
export { StreamTextIterator } from './stream-text-iterator.ts'
export type { NextStep } from './stream-text-iterator.ts'
export { Output } from './output.ts'
export type { OutputSpecification } from './output.ts'
export type {
  GeneratedFile,
  StepContentPart,
  StepResult,
  StepToolCall,
  StepToolError,
  StepToolResult,
} from './step-result.ts'
export type { FinishReason, Usage } from './usage.ts'
export type {
  AbortEvent,
  AgentCallbacks,
  EndEvent,
  StartEvent,
  StepStartEvent,
  ToolExecutionEndEvent,
  ToolExecutionOrigin,
  ToolExecutionStartEvent,
} from './callbacks.ts'

export { hasToolCall, isLoopFinished, isStepCount } from './stop-conditions.ts'
export type { StepsCondition, StopCondition } from './stop-conditions.ts'
export type { Timeouts, TimeoutSetting, ToolTimes } from './timeouts.ts'
export { redactedErrorText } from './error-text.ts'
export type { ErrorSource, ErrorText } from './error-text.ts'

export type { DurableToolOptions } from './tool-execution.ts'
export type { RawToolCall, ToolCallRepair, ToolCallRepairOptions } from './tool-call-parsing.ts'
export type {
  ToolApproval,
  ToolApprovalQuestion,
  ToolApprovalRule,
  ToolApprovalStatus,
} from './tool-approval.ts'
export type { PendingApproval } from './tool-calls.ts'
export { ApprovalAnswer, ClientToolAnswer } from './tool-questions.ts'
export { BudgetAnswer } from './budget.ts'

export { createModelCallToUIChunkTransform, toUIMessageChunk } from './to-ui-chunk.ts'
export type { ModelCallToUIChunkOptions, UiChunkOptions } from './to-ui-chunk.ts'
export type { ModelCallStreamPart, ToolPartOrigin } from './model-call-part.ts'

export { AgentRunInput, AgentRunOutput, agentWorkflow } from './agent-workflow.ts'
export type {
  AgentOfRun,
  AgentWorkflowOptions,
  DurableAgent,
  DurableAgentResult,
} from './agent-workflow.ts'
export { agentStreamFraming } from './stream-framing.ts'
export { messagesFromTurns } from './conversation-messages.ts'
export {
  marshalSchema,
  resolveSerializableTools,
  serializeToolSet,
  unmarshalSchema,
  validateSerializableToolInput,
} from './serializable-tools.ts'
export type { SerializableToolDef } from './serializable-tools.ts'
export type { AgentTelemetry } from './agent-telemetry.ts'
export type { DeprecatedSettings } from './deprecated.ts'
export type { Download, DownloadedFile, DownloadRequest } from './download.ts'
export type { IncludeOptions } from './include.ts'
export type { PartTransform } from './part-transform.ts'
export type { ToolInputRefinement } from './tool-input-refinement.ts'
