import {
  listOf,
  numberOf,
  parsedJson,
  recordOf,
  textOf,
  type JsonRecord,
} from '../api/json-reader.ts'

/** What a field of a form holds. */
export type FieldKind =
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'number'
      readonly isInteger: boolean
      readonly min?: number
      readonly max?: number
    }
  | {
      readonly kind: 'text'
      readonly isLong: boolean
      readonly minLength?: number
      readonly maxLength?: number
      readonly pattern?: string
    }
  | { readonly kind: 'choice'; readonly options: readonly (string | number | boolean)[] }
  /** What has no field of its own is written as JSON. */
  | { readonly kind: 'json' }

/** One property of the answer. */
export interface FormField {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly isRequired: boolean
  readonly type: FieldKind
}

/** How a question is asked. */
export interface FormModel {
  /** A required boolean that two buttons decide: Approve and Decline. Absent: one button submits. */
  readonly decision?: string
  readonly fields: readonly FormField[]
}

/** What was typed, by field name. Absent: nothing yet. */
export type FormValues = Readonly<Record<string, string | boolean | undefined>>

/** What comes of a form: the answer, or what is wrong, by field name. */
export type FormResult =
  | { readonly ok: true; readonly answer: JsonRecord }
  | { readonly ok: false; readonly problems: Readonly<Record<string, string>> }

const decisionNames: ReadonlySet<string> = new Set([
  'approved',
  'approve',
  'accepted',
  'confirmed',
  'allow',
])
const longTextLength = 200
const maxFields = 32

/** The form for the answer that a JSON schema describes; `undefined` when only free JSON would do. */
export function formModelFrom(schema: unknown): FormModel | undefined {
  const properties = recordOf(recordOf(schema)?.['properties'])
  if (properties === undefined) return undefined
  const names = Object.keys(properties)
  if (names.length > maxFields) return undefined
  const required = new Set(listOf(recordOf(schema)?.['required']))
  const fields = names.map((name) => fieldFrom(name, properties[name], required.has(name)))
  const decision = decisionAmong(fields)
  if (decision === undefined) return { fields }
  return { decision, fields: fields.filter(({ name }) => name !== decision) }
}

/** What a form holds before anybody typed. */
export function initialValues(schema: unknown): FormValues {
  const properties = recordOf(recordOf(schema)?.['properties']) ?? {}
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) => {
      const given = recordOf(property)?.['default']
      if (given === undefined) return []
      return [[name, typeof given === 'boolean' ? given : asText(given)]]
    }),
  )
}

/** Makes the answer of what was typed. Optional fields that are empty are left out. */
export function answerFrom(model: FormModel, values: FormValues, decided?: boolean): FormResult {
  const problems: Record<string, string> = {}
  const answer: Record<string, unknown> = {}
  if (model.decision !== undefined) answer[model.decision] = decided === true
  for (const field of model.fields) {
    const outcome = valueOf(field, values[field.name])
    if (outcome === undefined) continue
    if ('problem' in outcome) problems[field.name] = outcome.problem
    else answer[field.name] = outcome.value
  }
  return Object.keys(problems).length === 0 ? { ok: true, answer } : { ok: false, problems }
}

/** A name as a person reads it: `order_id` and `orderId` are "Order id". */
export function humanName(name: string): string {
  const words = name
    .replaceAll(/[_\-.]+/g, ' ')
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .trim()
    .toLowerCase()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1)
}

function fieldFrom(name: string, property: unknown, isRequired: boolean): FormField {
  const schema = recordOf(property) ?? {}
  const hint = textOf(schema['description'])
  return {
    name,
    label: textOf(schema['title']) ?? humanName(name),
    ...(hint === undefined ? {} : { hint }),
    isRequired,
    type: kindOf(schema),
  }
}

function kindOf(schema: JsonRecord): FieldKind {
  const options = optionsOf(schema)
  if (options !== undefined) return { kind: 'choice', options }
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'boolean' }
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        isInteger: schema['type'] === 'integer',
        ...bound('min', numberOf(schema['minimum'])),
        ...bound('max', numberOf(schema['maximum'])),
      }
    case 'string': {
      const maxLength = numberOf(schema['maxLength'])
      const pattern = textOf(schema['pattern'])
      return {
        kind: 'text',
        isLong: maxLength !== undefined && maxLength > longTextLength,
        ...bound('minLength', numberOf(schema['minLength'])),
        ...bound('maxLength', maxLength),
        ...(pattern === undefined ? {} : { pattern }),
      }
    }
    default:
      return { kind: 'json' }
  }
}

/** The values of an enum, also of one that is written as a union of constants. */
function optionsOf(schema: JsonRecord): readonly (string | number | boolean)[] | undefined {
  const union = listOf(schema['anyOf'] ?? schema['oneOf']).map((one) => recordOf(one)?.['const'])
  const values = Array.isArray(schema['enum']) ? listOf(schema['enum']) : union
  if (values.length === 0 || !values.every(isPlain)) return undefined
  return values
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function bound<Name extends string>(
  name: Name,
  value: number | undefined,
): { readonly [Key in Name]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [Key in Name]: number })
}

/** A required boolean with such a name, or the only required boolean there is. */
function decisionAmong(fields: readonly FormField[]): string | undefined {
  const booleans = fields.filter(({ type, isRequired }) => isRequired && type.kind === 'boolean')
  const named = booleans.find(({ name }) => decisionNames.has(name.toLowerCase()))
  if (named !== undefined) return named.name
  return booleans.length === 1 && fields.length === 1 ? booleans[0]?.name : undefined
}

type FieldOutcome = { readonly value: unknown } | { readonly problem: string } | undefined

function valueOf(field: FormField, typed: string | boolean | undefined): FieldOutcome {
  const { type, isRequired } = field
  if (type.kind === 'boolean') {
    if (typed === undefined && !isRequired) return undefined
    return { value: typed === true }
  }
  const text = typeof typed === 'string' ? typed : ''
  const isEmpty = type.kind === 'text' ? text === '' : text.trim() === ''
  if (isEmpty) return isRequired ? { problem: 'This is needed.' } : undefined
  switch (type.kind) {
    case 'number':
      return numberFrom(type, text.trim())
    case 'text':
      return checkedText(type, text)
    case 'choice': {
      const value = type.options.find((option) => String(option) === text)
      return value === undefined ? { problem: 'Choose one of these.' } : { value }
    }
    case 'json': {
      const value = parsedJson(text)
      return value === undefined ? { problem: 'This is not JSON.' } : { value }
    }
  }
}

function numberFrom(type: Extract<FieldKind, { kind: 'number' }>, text: string): FieldOutcome {
  const value = Number(text)
  const { isInteger, min, max } = type
  if (!Number.isFinite(value)) return { problem: 'This is not a number.' }
  if (isInteger && !Number.isSafeInteger(value)) return { problem: 'A whole number is needed.' }
  if (min !== undefined && value < min) return { problem: `At least ${min}.` }
  if (max !== undefined && value > max) return { problem: `At most ${max}.` }
  return { value }
}

function checkedText(type: Extract<FieldKind, { kind: 'text' }>, text: string): FieldOutcome {
  const length = [...text].length
  const { minLength, maxLength, pattern } = type
  if (minLength !== undefined && length < minLength)
    return { problem: `At least ${minLength} characters.` }
  if (maxLength !== undefined && length > maxLength)
    return { problem: `At most ${maxLength} characters.` }
  if (pattern !== undefined && !matches(pattern, text))
    return { problem: 'This does not have the right form.' }
  return { value: text }
}

/** A pattern that this browser cannot read is left to the server. */
function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
