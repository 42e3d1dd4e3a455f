import type { Static, TSchema } from 'typebox'
import { ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { JsonValue, WorkflowDefinition } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'

const namePattern = /^[a-z][a-z0-9_]{2,63}$/
const versionPattern = /^[a-z0-9][a-z0-9_.-]{0,63}$/

/** The type of what fits a schema, TypeBox's or plain; any JSON where it cannot be told. */
export type SchemaValue<Schema> = Schema extends TSchema
  ? unknown extends Static<Schema>
    ? JsonValue
    : Static<Schema>
  : JsonValue

/** A definition with its types taken from its schemas. */
export type TypedDefinition<Input extends object, Resume, Output> = Omit<
  WorkflowDefinition<SchemaValue<Input>, ResumeValue<Resume>, OutputValue<Output>>,
  'input' | 'resume' | 'output'
> & {
  readonly input: Input
  readonly resume?: Resume & object
  readonly output?: Output & object
}

type ResumeValue<Schema> = unknown extends Schema ? JsonValue : SchemaValue<Schema>
type OutputValue<Schema> = unknown extends Schema ? JsonValue | void : SchemaValue<Schema>

/**
 * Declares a workflow. Types of input, answers and output come from its schemas when they are TypeBox.
 *
 * Checks name, version and description; the schemas are checked when it is registered in a catalog.
 *
 * @throws `definition_invalid`
 *
 * @example source="../test/readme.examples.ts#define"
 */
export function defineWorkflow<
  const Input extends object,
  const Resume = unknown,
  const Output = unknown,
>(
  definition: TypedDefinition<Input, Resume, Output>,
): WorkflowDefinition<SchemaValue<Input>, ResumeValue<Resume>, OutputValue<Output>> {
  const { name, version, description } = definition
  if (!namePattern.test(name)) {
    throw invalid('name', 'must be 3 to 64 of a-z, 0-9 and _, beginning with a letter')
  }
  if (!versionPattern.test(version)) {
    throw invalid('version', 'must be 1 to 64 of a-z, 0-9, _ . and -, not beginning with a mark')
  }
  if (utf8Length(description) > Limits.descriptionBytes) {
    throw invalid('description', `must have at most ${Limits.descriptionBytes} bytes`)
  }
  const labels = definition.steps ?? []
  if (labels.some((label) => label.length === 0 || utf8Length(label) > 128)) {
    throw invalid('steps', 'must be labels of 1 to 128 bytes')
  }
  return Object.freeze({ ...definition })
}

function invalid(field: string, rule: string): HoldfastError {
  return new HoldfastError(ErrorCode.definitionInvalid, {
    message: `invalid workflow definition (${field}): ${rule}.`,
    details: { field },
  })
}
