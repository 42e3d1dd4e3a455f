import {
  ErrorCode,
  HoldfastError,
  isTerminal,
  unansweredInterrupts,
  visibleStatus,
} from '@holdfast/core'
import type {
  InvokableTool,
  JsonObject,
  OpenInterrupt,
  RegisteredDefinition,
  ResumeRequest,
  StoredRun,
} from '@holdfast/core'
import { documentFromValue, isJsonObject } from '@holdfast/json'
import { acceptAnswer } from './accept-input.ts'
import {
  boundedTextField,
  documentArguments,
  objectField,
  optional,
  uuidField,
} from './arguments.ts'
import { callKey } from './call-key.ts'
import { defineTool } from './define-tool.ts'
import type { ToolCall } from './define-tool.ts'
import { boundedText } from './fit-result.ts'
import { withJournaledSchemas } from './journaled-questions.ts'
import { presentRun } from './present-run.ts'
import { runViewSchema } from './run-view.ts'
import { demandNotOwnRun } from './session-runs.ts'
import type { ToolContext } from './tool-context.ts'

const idBytes = 64
const questionsNamed = 8

const fields = {
  run_id: uuidField('The id of the run.'),
  resume: objectField("The answer, by the question's schema or the definition's resume_schema."),
}

const targetedFields = {
  ...fields,
  interrupt_id: optional(
    boundedTextField('Which open question, where there are several.', idBytes),
  ),
}

/**
 * `workflow_run_resume`: answers an open question that is not a person's; durable when this answers.
 *
 * Which question: the one named, else the only one that a model may answer.
 */
export function runResumeTool(context: ToolContext): InvokableTool {
  const common = {
    name: 'workflow_run_resume',
    description: 'Resume one interrupted workflow run with definition-validated resume input.',
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
  if (context.extensions === undefined) {
    return defineTool({ ...common, fields, run: (call) => resume(context, call, undefined) })
  }
  return defineTool({
    ...common,
    fields: targetedFields,
    run: (call) => resume(context, call, call.arguments.interrupt_id),
  })
}

async function resume(
  context: ToolContext,
  call: ToolCall<typeof fields>,
  interruptId: string | undefined,
): Promise<JsonObject> {
  const { catalog, definitions, runs, supervisor } = context
  const { run_id, resume: answer } = call.arguments
  const run = await withJournaledSchemas(runs, await runs.get(run_id))
  await demandNotOwnRun(runs, run_id, call.callerRunId)
  definitions.demandActionable(run.record)
  const request = {
    runId: run_id,
    by: { kind: 'model', ...(call.callerRunId === undefined ? {} : { runId: call.callerRunId }) },
    ...(call.idempotencyKey === undefined ? {} : { idempotencyKey: callKey(call.idempotencyKey) }),
  } as const satisfies Omit<ResumeRequest, 'payload'>
  const options = call.signal === undefined ? {} : { signal: call.signal }
  const open = isTerminal(run.record.status) ? [] : unansweredInterrupts(run)
  if (open.length === 0) {
    if (call.idempotencyKey === undefined) throw nothingOpen(run)
    // It may repeat a call that was carried out: only the supervisor knows its key.
    const { value } = documentFromValue(answer)
    const repeated = await supervisor.resume(
      { ...request, ...answeredUnread(run), payload: value },
      options,
    )
    return presentRun(context, repeated.run)
  }
  const { name, version } = run.record.definition
  const definition = catalog.resolve(name, version)
  const interrupt = chooseInterrupt(run, open, definition, answer, interruptId)
  // Without the journal nobody here knows whether the question has a schema: the supervisor does.
  const { value } =
    interrupt.schema === undefined && runs.reader.journal === undefined
      ? documentFromValue(answer)
      : acceptAnswer(definition, interrupt, answer)
  const { run: after } = await supervisor.resume(
    { ...request, payload: value, ...(open.length > 1 ? { interruptId: interrupt.id } : {}) },
    options,
  )
  return presentRun(context, after)
}

/**
 * The question that an answer is for.
 *
 * @throws `interrupt_not_found`, `interrupt_needs_person`, `ambiguous_interrupt`
 */
function chooseInterrupt(
  run: StoredRun,
  open: readonly OpenInterrupt[],
  definition: RegisteredDefinition,
  answer: JsonObject,
  named: string | undefined,
): OpenInterrupt {
  const wanted = named ?? namedInPayload(definition, answer)
  const candidates = wanted === undefined ? open : open.filter(({ id }) => id === wanted)
  if (candidates.length === 0) throw interruptNotFound(run)
  const answerable = candidates.filter((interrupt) => interrupt.answer === 'anyone')
  const [only, second] = answerable
  if (only === undefined) throw needsPerson(run)
  if (second !== undefined) throw ambiguous(run, answerable)
  return only
}

/** The question whose answer was accepted and not yet read, if there is just one that a model may have given. */
function answeredUnread({ record }: StoredRun): Pick<ResumeRequest, 'interruptId'> {
  const [only, second] = record.interrupts.filter(({ answer }) => answer === 'anyone')
  return only === undefined || second !== undefined ? {} : { interruptId: only.id }
}

function nothingOpen(run: StoredRun): HoldfastError {
  const { id } = run.record
  const status = visibleStatus(run)
  const details = { run_id: id, run_status: status }
  if (isTerminal(status)) {
    return new HoldfastError(ErrorCode.runEnded, {
      message: `Run ${id} is ${status}: nothing is waiting for an answer.`,
      details,
    })
  }
  return new HoldfastError(ErrorCode.runNotInterrupted, {
    message: `Run ${id} is ${status} and asks nothing: resume requires an interrupted run.`,
    details,
  })
}

/** A definition may declare `interrupt_id` in its resume schema to have the payload say it. */
function namedInPayload(definition: RegisteredDefinition, answer: JsonObject): string | undefined {
  const properties = definition.resumeSchema?.['properties']
  if (properties === undefined || !isJsonObject(properties)) return undefined
  if (!Object.hasOwn(properties, 'interrupt_id')) return undefined
  const id = Object.hasOwn(answer, 'interrupt_id') ? answer['interrupt_id'] : undefined
  return typeof id === 'string' ? id : undefined
}

function interruptNotFound({ record }: StoredRun): HoldfastError {
  return new HoldfastError(ErrorCode.interruptNotFound, {
    message: `Run ${record.id} has no such open question.`,
    details: { run_id: record.id },
  })
}

function needsPerson({ record }: StoredRun): HoldfastError {
  return new HoldfastError(ErrorCode.interruptNeedsPerson, {
    message: `Run ${record.id} waits for a person's answer.`,
    details: { run_id: record.id },
  })
}

function ambiguous({ record }: StoredRun, open: readonly OpenInterrupt[]): HoldfastError {
  const ids = open.slice(0, questionsNamed).map(({ id }) => boundedText(id, idBytes))
  return new HoldfastError(ErrorCode.ambiguousInterrupt, {
    message: `Run ${record.id} has ${open.length} open questions: ${ids.join(', ')}.`,
    details: { run_id: record.id, interrupts: ids },
  })
}
