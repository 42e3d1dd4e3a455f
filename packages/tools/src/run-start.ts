import { ErrorCode, HoldfastError, isHoldfastError, runRecordVersion } from '@holdfast/core'
import type {
  InvokableTool,
  RegisteredDefinition,
  RunDraft,
  RunId,
  RunRecord,
  StoredRun,
} from '@holdfast/core'
import { parseUuid } from '@holdfast/core'
import { sha256Hex } from '@holdfast/json'
import { acceptInput } from './accept-input.ts'
import {
  boundedTextField,
  documentArguments,
  objectField,
  optional,
  textField,
  uuidOrEmptyField,
} from './arguments.ts'
import { callKey, modelKey } from './call-key.ts'
import { defineTool } from './define-tool.ts'
import type { ToolCall } from './define-tool.ts'
import { prepareNamespace } from './prepare-run.ts'
import { presentRun } from './present-run.ts'
import { runViewSchema } from './run-view.ts'
import type { ToolContext } from './tool-context.ts'

const keyBytes = 256

const fields = {
  definition_name: textField('The name of a definition, exactly.'),
  definition_version: textField('Its version, exactly; there is no default.'),
  input: objectField("The run's input, by the definition's input_schema."),
  parent_run_id: optional(uuidOrEmptyField('A run of this session to record this one under.')),
}

const keyedFields = {
  ...fields,
  idempotency_key: optional(
    boundedTextField(
      'The same key and input give the same run, however often they are sent.',
      keyBytes,
    ),
  ),
}

/** What a start was asked for, checked. */
interface StartRequest {
  readonly definition: RegisteredDefinition
  readonly input: Uint8Array
  readonly digest: string
  readonly parentRunId?: RunId
  readonly key?: string
  readonly signal?: AbortSignal
}

/**
 * `workflow_run_start`: a new run, acknowledged at its seed; the run goes on whatever becomes of the
 * call.
 *
 * An error leaves no run that executes later, unless its details name the run.
 */
export function runStartTool(context: ToolContext): InvokableTool {
  const common = {
    name: 'workflow_run_start',
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
    argumentLimits: documentArguments,
    outputSchema: runViewSchema,
    resultBytes: context.resultBytes,
  }
  const description = 'Validate input, durably seed, and asynchronously start one new workflow run.'
  if (context.extensions === undefined) {
    return defineTool({
      ...common,
      description,
      fields,
      run: async (call) => presentRun(context, await start(context, await accept(context, call))),
    })
  }
  return defineTool({
    ...common,
    description: `${description} Give an idempotency_key to make a repeat harmless.`,
    fields: keyedFields,
    async run(call) {
      const { idempotency_key: key } = call.arguments
      const request = await accept(context, call)
      return presentRun(
        context,
        await start(context, key === undefined ? request : { ...request, key: modelKey(key) }),
      )
    },
  })
}

async function accept(
  { definitions, runs }: ToolContext,
  call: ToolCall<typeof fields>,
): Promise<StartRequest> {
  const { definition_name, definition_version, input, parent_run_id } = call.arguments
  const definition = definitions.resolve(definition_name, definition_version)
  const { bytes } = acceptInput(definition, input)
  if (parent_run_id !== undefined) await runs.get(parent_run_id)
  return {
    definition,
    input: bytes,
    digest: sha256Hex(bytes),
    ...(parent_run_id === undefined ? {} : { parentRunId: parent_run_id }),
    ...(call.idempotencyKey === undefined ? {} : { key: callKey(call.idempotencyKey) }),
    ...(call.signal === undefined ? {} : { signal: call.signal }),
  }
}

async function start(context: ToolContext, request: StartRequest): Promise<StoredRun> {
  const { supervisor } = context
  const { key, signal } = request
  const earlier = await startedEarlier(context, request)
  if (earlier !== undefined) return earlier
  const draft = await draftOf(context, request)
  try {
    const { run } = await supervisor.start(draft, request.input, {
      ...(key === undefined ? {} : { idempotencyKey: key }),
      ...(signal === undefined ? {} : { signal }),
    })
    return sameRequest(run, request)
  } catch (error) {
    if (!isUnsettled(error)) throw error
    const recorded = await recordedAfterAll(context, request, draft.id)
    if (recorded !== undefined) return recorded
    throw naming(draft.id, error)
  }
}

/** What the same key started before, so that a repeat prepares nothing a second time. */
async function startedEarlier(
  { runs }: ToolContext,
  request: StartRequest,
): Promise<StoredRun | undefined> {
  if (request.key === undefined) return undefined
  const run = await runs.reader.runByIdempotencyKey(runs.sessionId, request.key)
  return run === undefined ? undefined : sameRequest(run, request)
}

function sameRequest(run: StoredRun, { definition, digest }: StartRequest): StoredRun {
  const { id, definition: recorded, input } = run.record
  const isSame =
    recorded.name === definition.name &&
    recorded.version === definition.version &&
    input.digest === digest
  if (isSame) return run
  throw new HoldfastError(ErrorCode.idempotencyKeyReused, {
    message: `This idempotency key started run ${id} with another definition or input.`,
    details: { run_id: id },
  })
}

async function draftOf(context: ToolContext, request: StartRequest): Promise<RunDraft> {
  const id = mint(context, 'workflow run ID')
  const executionId = mint(context, 'execution ID')
  const { name, version } = request.definition
  const pending = pendingRun(context, request, id, executionId)
  const artifactNamespace =
    context.prepareRun === undefined
      ? pending.artifactNamespace
      : await prepareNamespace(pending, context.prepareRun)
  return {
    id,
    definition: { name, version },
    executionId,
    artifactNamespace,
    ...(request.parentRunId === undefined ? {} : { parentRunId: request.parentRunId }),
  }
}

/** The run as the supervisor will create it; its times are the supervisor's in the end. */
function pendingRun(
  { sessionId, now }: ToolContext,
  { definition, digest, input, parentRunId }: StartRequest,
  id: RunId,
  executionId: string,
): RunRecord {
  const at = now()
  return {
    version: runRecordVersion,
    id,
    sessionId,
    definition: { name: definition.name, version: definition.version, digest: definition.digest },
    ...(parentRunId === undefined ? {} : { parentRunId }),
    executionId,
    input: { digest, size: input.byteLength },
    artifactNamespace: { sessionId, runId: id },
    status: 'pending',
    parked: false,
    interrupts: [],
    artifacts: [],
    stream: 0,
    inboxReadThrough: 0,
    recoveries: 0,
    createdAt: at,
    updatedAt: at,
  }
}

function mint({ newId }: ToolContext, what: string): string {
  try {
    return parseUuid(what, newId())
  } catch (cause) {
    throw new HoldfastError(ErrorCode.internal, { message: `mint ${what}`, cause })
  }
}

/** Whether a run may exist after all, although the call failed. */
function isUnsettled(error: unknown): boolean {
  if (!isHoldfastError(error)) return true
  return (
    error.code === ErrorCode.storeOutcomeUnknown ||
    error.code === ErrorCode.aborted ||
    error.code === ErrorCode.timeout ||
    error.code === ErrorCode.internal
  )
}

/** Looks once whether the run was created. A caller that gave up is not kept waiting for it. */
async function recordedAfterAll(
  { runs }: ToolContext,
  request: StartRequest,
  runId: RunId,
): Promise<StoredRun | undefined> {
  const { key, signal } = request
  if (signal?.aborted === true) return undefined
  try {
    const run =
      key === undefined
        ? await runs.find(runId)
        : await runs.reader.runByIdempotencyKey(runs.sessionId, key)
    return run === undefined ? undefined : sameRequest(run, request)
  } catch {
    return undefined
  }
}

/** The same error, saying which run it may have left behind. */
function naming(runId: RunId, error: unknown): HoldfastError {
  const known = isHoldfastError(error) ? error : undefined
  return new HoldfastError(known?.code ?? ErrorCode.internal, {
    message: `${known?.message ?? 'The start failed inside.'} Run ${runId} may exist and go on.`,
    details: { ...known?.details, run_id: runId },
    retryable: known?.retryable ?? false,
    cause: error,
  })
}
