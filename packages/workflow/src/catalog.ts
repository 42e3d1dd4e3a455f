import { ErrorCode, HoldfastError } from '@holdfast/core'
import type {
  AnyWorkflowDefinition,
  Catalog,
  JsonObject,
  RegisteredDefinition,
  SchemaCheck,
} from '@holdfast/core'
import { assertClosedSchema, compileSchema } from '@holdfast/json'
import { definitionDigest } from './definition-digest.ts'
import type { DefinitionSchemas } from './definition-digest.ts'

/**
 * Registers definitions: schemas are checked, compiled and frozen once.
 *
 * The catalog never changes afterwards. What callers do to their objects later has no effect on
 * the schemas.
 *
 * @throws `definition_duplicate` (same name and version), `schema_invalid`
 */
export function createCatalog(definitions: readonly AnyWorkflowDefinition[]): Catalog {
  const byIdentity = new Map<string, RegisteredDefinition>()
  for (const definition of definitions) {
    const identity = identityOf(definition.name, definition.version)
    if (byIdentity.has(identity)) {
      throw new HoldfastError(ErrorCode.definitionDuplicate, {
        message: `duplicate workflow definition: ${identity}`,
        details: { name: definition.name, version: definition.version },
      })
    }
    byIdentity.set(identity, register(definition))
  }
  const sorted = Object.freeze([...byIdentity.values()].toSorted(byNameThenVersion))
  return {
    resolve(name, version) {
      const found = byIdentity.get(identityOf(name, version))
      if (found !== undefined) return found
      throw new HoldfastError(ErrorCode.definitionUnknown, {
        message:
          'unknown workflow definition: look at the list of definitions for names and versions.',
        details: {},
      })
    },
    find: (name, version) => byIdentity.get(identityOf(name, version)),
    list: () => sorted,
  }
}

/** Checks a definition's schemas and compiles them. @throws `schema_invalid` */
function register(definition: AnyWorkflowDefinition): RegisteredDefinition {
  const schemas: DefinitionSchemas = {
    input: assertClosedSchema(definition.input),
    ...(definition.resume === undefined ? {} : { resume: assertClosedSchema(definition.resume) }),
    ...(definition.output === undefined ? {} : { output: outputSchema(definition.output) }),
  }
  const input = compileSchema(schemas.input)
  const resume = schemas.resume === undefined ? undefined : compileSchema(schemas.resume)
  const output = schemas.output === undefined ? undefined : compileSchema(schemas.output)
  return Object.freeze({
    name: definition.name,
    version: definition.version,
    description: definition.description,
    digest: definitionDigest(definition, schemas),
    inputSchema: schemas.input,
    ...(schemas.resume === undefined ? {} : { resumeSchema: schemas.resume }),
    ...(schemas.output === undefined ? {} : { outputSchema: schemas.output }),
    definition,
    checkInput: (value): SchemaCheck => input.validate(value),
    checkResume(value): SchemaCheck {
      if (resume !== undefined) return resume.validate(value)
      throw new HoldfastError(ErrorCode.resumeUnsupported, {
        message: 'invalid workflow input (resume): resume is not supported',
      })
    },
    checkOutput: (value): SchemaCheck =>
      output === undefined ? { ok: true, value } : output.validate(value),
  } satisfies RegisteredDefinition)
}

/** An output need not be an object, nor closed: it is ours, not a stranger's. */
function outputSchema(schema: object): JsonObject {
  const { schema: checked } = compileSchema(schema)
  return checked as JsonObject
}

function identityOf(name: string, version: string): string {
  return `${name}@${version}`
}

function byNameThenVersion(left: RegisteredDefinition, right: RegisteredDefinition): number {
  return compareText(left.name, right.name) || compareText(left.version, right.version)
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}
