import { isHoldfastError, type JsonObject, type JsonValue } from '@holdfast/core'
import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Static, TSchema } from 'typebox'
import { compileWithAjv, type AjvVariant } from './ajv.ts'
import { truncateUtf8 } from './bytes.ts'
import { canonicalText } from './canonical-json.ts'
import { checkJsonValue } from './check-json.ts'
import { frozen } from './frozen.ts'
import { isJsonObject } from './is-json-object.ts'
import { escapePointerKey } from './json-pointer.ts'
import { schemaCopy } from './schema-copy.ts'
import { schemaInvalid } from './schema-error.ts'

const issuesShown = 20
const issueBytes = 256
const explainedLength = 16_384
const schemasKept = 512

/** One thing that is wrong with a value. Never says what the value is. */
export interface ValidationIssue {
  /** JSON pointer into the value; names of members are the value's own, at most 256 bytes. */
  readonly path: string
  /** At most 256 bytes. */
  readonly message: string
}

/** What a validator says. `value` is a fresh copy. */
export type Validation<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: readonly ValidationIssue[] }

/** A compiled schema. */
export interface Validator<Value> {
  /** The schema as it was when it was compiled; frozen. */
  readonly schema: JsonValue
  /**
   * Says whether a value fits, and if not, why: up to 20 issues, of a large value only the first.
   *
   * Never throws, never changes the given value.
   */
  readonly validate: (value: unknown) => Validation<Value>
}

/** The type of what fits a schema: that of a TypeBox schema, else any JSON value. */
export type ValueOf<Schema extends TSchema> =
  unknown extends Static<Schema> ? JsonValue : Static<Schema>

/** How a schema is compiled. */
export interface CompileOptions {
  /** Fill members that are absent from `default`. Absent: they stay absent. */
  readonly applyDefaults?: boolean
}

/**
 * Compiles a JSON Schema of draft 2020-12, plain or made with TypeBox.
 *
 * Equal schemas are compiled once, and later changes to the given object have no effect. Formats
 * are checked. References stay inside the schema: nothing is ever loaded. Does not demand that
 * the schema is closed: that is `assertClosedSchema`. A `pattern` runs as a JavaScript regular
 * expression without a time limit: compile no schema of a stranger.
 *
 * @throws `schema_invalid` not JSON, not a valid schema, an unknown keyword or format, or a
 *   reference that leads nowhere
 */
export function compileSchema<const Schema extends TSchema>(
  schema: Schema,
  options: CompileOptions = {},
): Validator<ValueOf<Schema>> {
  const validator = validatorFor(schemaCopy(schema), options.applyDefaults ?? false)
  // The one place where a schema's static type is taken at its word.
  return validator as Validator<ValueOf<Schema>>
}

const compiled = new Map<string, Validator<JsonValue>>()

function validatorFor(schema: JsonValue, useDefaults: boolean): Validator<JsonValue> {
  const key = `${useDefaults ? '+' : '-'}${canonicalText(schema)}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  if (!isJsonObject(schema) && typeof schema !== 'boolean') {
    throw schemaInvalid('must be an object', '')
  }
  const validator = createValidator(frozen(schema), useDefaults)
  const [oldest] = compiled.keys()
  if (compiled.size >= schemasKept && oldest !== undefined) compiled.delete(oldest)
  compiled.set(key, validator)
  return validator
}

function createValidator(schema: JsonObject | boolean, useDefaults: boolean): Validator<JsonValue> {
  const fits = compiledFunction(schema, { useDefaults, allErrors: false })
  let explain: ValidateFunction | undefined
  return {
    schema,
    validate(value) {
      const copy = copyOrIssue(value)
      if ('issue' in copy) return { ok: false, issues: [copy.issue] }
      if (fits(copy.value)) return { ok: true, value: copy.value }
      if (!isSmall(copy.value)) return { ok: false, issues: issuesOf(fits) }
      explain ??= compiledFunction(schema, { useDefaults, allErrors: true })
      explain(copy.value)
      return { ok: false, issues: issuesOf(explain) }
    },
  }
}

/** Whether to look for all failures: a large value could have as many as it has bytes. */
function isSmall(value: JsonValue): boolean {
  return JSON.stringify(value).length <= explainedLength
}

function issuesOf(check: ValidateFunction): readonly ValidationIssue[] {
  return (check.errors ?? []).slice(0, issuesShown).map(issueFromError)
}

function compiledFunction(schema: JsonObject | boolean, variant: AjvVariant): ValidateFunction {
  try {
    return compileWithAjv(schema, variant)
  } catch (error) {
    throw schemaInvalid(error instanceof Error ? error.message : 'cannot be compiled', '', error)
  }
}

function copyOrIssue(
  value: unknown,
): { readonly value: JsonValue } | { readonly issue: ValidationIssue } {
  try {
    return { value: checkJsonValue(value) }
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    const path = error.details['path']
    return { issue: { path: typeof path === 'string' ? path : '', message: error.message } }
  }
}

function issueFromError(error: ErrorObject): ValidationIssue {
  const { extra, missing } = memberOf(error)
  if (extra !== undefined) return issue(`${error.instancePath}/${extra}`, 'unknown field')
  if (missing !== undefined) return issue(`${error.instancePath}/${missing}`, 'is required')
  return issue(error.instancePath, error.message ?? 'is invalid')
}

function issue(path: string, message: string): ValidationIssue {
  return { path: truncateUtf8(path, issueBytes), message: truncateUtf8(message, issueBytes) }
}

function memberOf(error: ErrorObject): { readonly extra?: string; readonly missing?: string } {
  const params: Readonly<Record<string, unknown>> = error.params
  const extra = params['additionalProperty'] ?? params['unevaluatedProperty']
  if (typeof extra === 'string') return { extra: escapePointerKey(extra) }
  const missing = error.keyword === 'required' ? params['missingProperty'] : undefined
  return typeof missing === 'string' ? { missing: escapePointerKey(missing) } : {}
}
