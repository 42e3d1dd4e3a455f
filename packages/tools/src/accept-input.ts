import { ErrorCode, HoldfastError } from '@holdfast/core'
import type {
  JsonObject,
  OpenInterrupt,
  RegisteredDefinition,
  SchemaCheck,
  SchemaIssue,
} from '@holdfast/core'
import { compileSchema, documentFromValue, truncateUtf8 } from '@holdfast/json'
import type { JsonDocument } from '@holdfast/json'

const issuesShown = 5
const issuesBytes = 600

/**
 * The canonical form of an input that its definition accepts: what is digested and stored.
 *
 * @throws `input_invalid` with the issues, and the codes of `documentFromValue`
 */
export function acceptInput(definition: RegisteredDefinition, input: JsonObject): JsonDocument {
  const document = documentFromValue(input)
  demandFit(definition.checkInput(document.value), 'input')
  return document
}

/**
 * The canonical form of an answer that the question accepts: by the question's own schema, else by
 * the definition's.
 *
 * @throws `input_invalid` with the issues, `resume_unsupported`, and the codes of `documentFromValue`
 */
export function acceptAnswer(
  definition: RegisteredDefinition,
  interrupt: OpenInterrupt,
  answer: JsonObject,
): JsonDocument {
  const document = documentFromValue(answer)
  const { schema } = interrupt
  const check: SchemaCheck =
    schema === undefined
      ? definition.checkResume(document.value)
      : compileSchema(schema).validate(document.value)
  demandFit(check, 'resume')
  return document
}

function demandFit(check: SchemaCheck, field: 'input' | 'resume'): void {
  if (check.ok) return
  const issues = check.issues.slice(0, issuesShown)
  const reasons = truncateUtf8(issues.map(issueText).join('; '), issuesBytes)
  throw new HoldfastError(ErrorCode.inputInvalid, {
    message: `invalid workflow input (${field}): ${reasons}`,
    details: { field, issues: issues.map(({ path, message }) => ({ path, message })) },
  })
}

function issueText({ path, message }: SchemaIssue): string {
  return path === '' ? message : `${path} ${message}`
}
