import type { AnyWorkflowDefinition, JsonObject } from '@holdfast/core'
import { digestJson } from '@holdfast/json'

/** The schemas of a definition as plain, checked data. */
export interface DefinitionSchemas {
  readonly input: JsonObject
  readonly resume?: JsonObject
  readonly output?: JsonObject
}

/**
 * What a run's journal is bound to: name, version, schemas and the author's `revision`; never code.
 */
export function definitionDigest(
  definition: AnyWorkflowDefinition,
  schemas: DefinitionSchemas,
): string {
  return digestJson({
    name: definition.name,
    version: definition.version,
    schemas: { ...schemas },
    ...(definition.revision === undefined ? {} : { revision: definition.revision }),
  })
}
