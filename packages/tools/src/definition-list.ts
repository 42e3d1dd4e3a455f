import { Limits } from '@holdfast/core'
import type { InvokableTool, JsonObject, RegisteredDefinition } from '@holdfast/core'
import {
  argumentsInvalid,
  boundedTextField,
  optional,
  pageLimitField,
  smallArguments,
} from './arguments.ts'
import { defineTool, readOnly } from './define-tool.ts'
import { countThatFits } from './fit-result.ts'
import type { ToolContext } from './tool-context.ts'

/** Name, 64, `@`, version, 64: the longest cursor. */
const cursorBytes = 129
/** What stands around the definitions in a result, the longest cursor included. */
const frameBytes = 256

const pagingFields = {
  after: optional(boundedTextField('The `next` of the page before.', cursorBytes)),
  limit: optional(pageLimitField('definitions')),
}

const outputSchema: JsonObject = {
  type: 'object',
  properties: {
    definitions: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          version: { type: 'string' },
          description: { type: 'string' },
          input_schema: {},
          resume_supported: { type: 'boolean' },
          resume_schema: {},
        },
        required: ['name', 'version', 'description', 'input_schema', 'resume_supported'],
        additionalProperties: false,
      },
    },
    truncated: { type: 'boolean' },
    next: { type: 'string' },
  },
  required: ['definitions', 'truncated'],
  additionalProperties: false,
}

/** `workflow_definition_list`: what may be started, with the schemas of inputs and answers. */
export function definitionListTool(context: ToolContext): InvokableTool {
  const common = {
    name: 'workflow_definition_list',
    description:
      'List available workflow definitions, versions, descriptions, and strict input schemas.',
    annotations: readOnly,
    argumentLimits: smallArguments,
    outputSchema,
    resultBytes: Limits.definitionListBytes,
  }
  const { definitions } = context
  if (context.extensions === undefined) {
    return defineTool({
      ...common,
      fields: {},
      run: async () => listed(definitions.list(), Limits.definitionsListed).document,
    })
  }
  return defineTool({
    ...common,
    fields: pagingFields,
    async run({ arguments: { after, limit } }) {
      const rest = after === undefined ? definitions.list() : itemsAfter(definitions.list(), after)
      const { document, last } = listed(rest, limit ?? Limits.pageDefault)
      return last === undefined ? document : { ...document, next: cursorOf(last) }
    },
  })
}

/** The first definitions that fit; `last` is given when there are more. */
function listed(
  items: readonly RegisteredDefinition[],
  limit: number,
): { readonly document: JsonObject; readonly last?: RegisteredDefinition } {
  const views = items.slice(0, limit).map(definitionView)
  const count = countThatFits(views, Limits.definitionListBytes - frameBytes)
  const truncated = count < items.length
  const last = truncated ? items[count - 1] : undefined
  return {
    document: { definitions: views.slice(0, count), truncated },
    ...(last === undefined ? {} : { last }),
  }
}

function definitionView(definition: RegisteredDefinition): JsonObject {
  const { name, version, description, inputSchema, resumeSchema } = definition
  return {
    name,
    version,
    description,
    input_schema: inputSchema,
    resume_supported: resumeSchema !== undefined,
    ...(resumeSchema === undefined ? {} : { resume_schema: resumeSchema }),
  }
}

/** Those that follow a cursor, which need not name one that still exists. */
function itemsAfter(
  items: readonly RegisteredDefinition[],
  cursor: string,
): readonly RegisteredDefinition[] {
  const [name, version, ...rest] = cursor.split('@')
  if (name === undefined || version === undefined || rest.length > 0) {
    throw argumentsInvalid('after must be the next of a page before', 'after')
  }
  return items.filter((item) => item.name > name || (item.name === name && item.version > version))
}

function cursorOf({ name, version }: RegisteredDefinition): string {
  return `${name}@${version}`
}
