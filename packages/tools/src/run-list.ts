import { Limits } from '@holdfast/core'
import type { InvokableTool, JsonObject, RunPageRequest, StoredRun } from '@holdfast/core'
import {
  boundedTextField,
  oneOfField,
  optional,
  pageLimitField,
  smallArguments,
  someOfField,
  uuidField,
} from './arguments.ts'
import { defineTool, readOnly } from './define-tool.ts'
import { countThatFits } from './fit-result.ts'
import { runView, runViewSchema } from './run-view.ts'
import type { ToolContext } from './tool-context.ts'

/** What stands around the runs in a result, the cursor included. */
const frameBytes = 128

const fields = {
  after: optional(uuidField('The `next` of the page before.')),
  limit: optional(pageLimitField('runs')),
}

const filterFields = {
  ...fields,
  order: optional(
    oneOfField('By id, which is by age. Default ascending.', ['ascending', 'descending']),
  ),
  run_status: optional(
    someOfField('Only runs with one of these.', [
      'pending',
      'running',
      'interrupted',
      'completed',
      'cancelled',
      'failed',
    ]),
  ),
  definition_name: optional(boundedTextField('Only runs of this definition.', 64)),
  parent_run_id: optional(uuidField('Only runs recorded under this one.')),
}

const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    runs: { type: 'array', items: runViewSchema },
    next: { type: 'string' },
  },
  required: ['runs'],
  additionalProperties: false,
}

/** `workflow_run_list`: a page of the session's runs; shorter than asked where bytes run out. */
export function runListTool(context: ToolContext): InvokableTool {
  const common = {
    name: 'workflow_run_list',
    description: 'List a bounded page of workflow runs owned by this session.',
    annotations: readOnly,
    argumentLimits: smallArguments,
    outputSchema,
    resultBytes: context.resultBytes,
  }
  if (context.extensions === undefined) {
    return defineTool({
      ...common,
      fields,
      run: ({ arguments: { after, limit } }) =>
        page(context, {
          limit: limit ?? Limits.pageDefault,
          ...(after === undefined ? {} : { after }),
        }),
    })
  }
  return defineTool({
    ...common,
    description: `${common.description} Filter by run_status instead of reading every page.`,
    fields: filterFields,
    run: ({ arguments: given }) =>
      page(context, {
        limit: given.limit ?? Limits.pageDefault,
        ...(given.after === undefined ? {} : { after: given.after }),
        ...(given.order === undefined ? {} : { order: given.order }),
        ...(given.run_status === undefined ? {} : { status: given.run_status }),
        ...(given.definition_name === undefined ? {} : { definition: given.definition_name }),
        ...(given.parent_run_id === undefined ? {} : { parentRunId: given.parent_run_id }),
      }),
  })
}

async function page(context: ToolContext, request: RunPageRequest): Promise<JsonObject> {
  const { sessionId, reader } = context.runs
  const { items, next } = await reader.runs(sessionId, request)
  const maxBytes = context.resultBytes - frameBytes
  const rows = items.map((run) => rowOf(context, run, maxBytes - 1))
  const count = countThatFits(rows, maxBytes)
  const cursor = count < items.length ? items[count - 1]?.record.id : next
  return { runs: rows.slice(0, count), ...(cursor === undefined ? {} : { next: cursor }) }
}

/** A row leaves payloads and schemas to `workflow_run_get`, and always fits in a page alone. */
function rowOf(context: ToolContext, run: StoredRun, maxBytes: number): JsonObject {
  return runView(run, { maxBytes, showsQuestions: false })
}
