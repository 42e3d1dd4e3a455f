import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonObject } from '@holdfast/core'

const schemasPerInstance = 256

/** What of a validator differs between its users. */
export interface AjvVariant {
  /** Fill absent members from `default`. */
  readonly useDefaults: boolean
  /** Look for every failure, which may cost far more than a value that fits. */
  readonly allErrors: boolean
}

/**
 * A function that checks values against a JSON Schema of draft 2020-12.
 *
 * Unknown keywords and formats are refused, so a misspelt constraint is found here. What the
 * standard allows beyond that is allowed. Formats are checked. Only own properties count: an
 * inherited one satisfies nothing.
 *
 * @throws Error what the schema is refused for
 */
export function compileWithAjv(
  schema: JsonObject | boolean,
  variant: AjvVariant,
): ValidateFunction {
  // Ajv's own keyword for validation that ends later; the answer would be a promise, so true.
  if (typeof schema === 'object' && Object.hasOwn(schema, '$async')) {
    throw new Error('strict mode: unknown keyword: "$async"')
  }
  // An identifier is known to the whole instance; elsewhere it could be taken, or found.
  const named = JSON.stringify(schema).includes('"$id"')
  const ajv = named ? createAjv(variant) : instanceFor(variant)
  return ajv.compile(schema)
}

/** Why a schema is not one of draft 2020-12, and where; absent: it is one. */
export function metaSchemaIssue(
  schema: JsonObject,
): { readonly path: string; readonly message: string } | undefined {
  const ajv = instanceFor({ useDefaults: false, allErrors: false })
  if (ajv.validateSchema(schema) === true) return undefined
  const [error] = ajv.errors ?? []
  return { path: error?.instancePath ?? '', message: error?.message ?? 'not a valid schema' }
}

interface Instance {
  readonly ajv: Ajv2020
  uses: number
}

const instances = new Map<string, Instance>()

/** An instance keeps what it has compiled, so each is given up after a number of schemas. */
function instanceFor(variant: AjvVariant): Ajv2020 {
  const key = `${variant.useDefaults} ${variant.allErrors}`
  const current = instances.get(key)
  const instance =
    current !== undefined && current.uses < schemasPerInstance
      ? current
      : { ajv: createAjv(variant), uses: 0 }
  instances.set(key, instance)
  instance.uses += 1
  return instance.ajv
}

function createAjv({ useDefaults, allErrors }: AjvVariant): Ajv2020 {
  const ajv = new Ajv2020({
    useDefaults,
    allErrors,
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    ownProperties: true,
    logger: false,
  })
  addFormats.default(ajv)
  // References by anchor work; only the strict mode does not know the word.
  ajv.addVocabulary(['$anchor'])
  return ajv
}
