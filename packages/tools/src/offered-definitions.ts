import { configurationInvalid, ErrorCode, HoldfastError } from '@holdfast/core'
import type { Catalog, DefinitionReference, RegisteredDefinition, RunRecord } from '@holdfast/core'

/** The part of a catalog that one bundle's model may use. */
export interface OfferedDefinitions {
  /** By name, then version, in byte order. */
  list(): readonly RegisteredDefinition[]
  /** @throws `definition_unknown`, for what is not offered as for what does not exist */
  resolve(name: string, version: string): RegisteredDefinition
  /** What is offered under the name and version of a run's definition. */
  of(record: RunRecord): RegisteredDefinition | undefined
  /**
   * Demands that a run may be answered or stopped through the bundle.
   *
   * One of a definition that is registered and not offered may not: it is the host's own. One of a
   * definition that is not registered, or not any more, may still be stopped.
   *
   * @throws `not_permitted`
   */
  demandActionable(record: RunRecord): void
}

/**
 * Narrows a catalog to what a model may use: exactly the allowed definitions where the host lists
 * some, else every one that is neither an agent nor a harness.
 *
 * @throws `configuration_invalid` when an allowed definition is not registered
 */
export function offeredDefinitions(
  catalog: Catalog,
  allowed: readonly DefinitionReference[] | undefined,
): OfferedDefinitions {
  const listed = allowed === undefined ? undefined : new Set(allowed.map(identityOf))
  for (const { name, version } of allowed ?? []) {
    if (catalog.find(name, version) === undefined) {
      throw configurationInvalid(
        `allowedDefinitions names ${name}@${version}, which the catalog does not have.`,
      )
    }
  }
  const isOffered = (definition: RegisteredDefinition): boolean =>
    listed?.has(identityOf(definition)) ?? isWorkflow(definition)
  return {
    of({ definition: { name, version } }) {
      const found = catalog.find(name, version)
      return found !== undefined && isOffered(found) ? found : undefined
    },
    list: () => catalog.list().filter(isOffered),
    resolve(name, version) {
      const found = catalog.find(name, version)
      if (found !== undefined && isOffered(found)) return found
      throw new HoldfastError(ErrorCode.definitionUnknown, {
        message: 'unknown workflow definition',
      })
    },
    demandActionable({ id, definition: { name, version } }) {
      const found = catalog.find(name, version)
      if (found === undefined || isOffered(found)) return
      throw new HoldfastError(ErrorCode.notPermitted, {
        message: `Run ${id} is not of a workflow that is offered here.`,
        details: { run_id: id },
      })
    },
  }
}

function isWorkflow({ definition }: RegisteredDefinition): boolean {
  return definition.kind === undefined || definition.kind === 'workflow'
}

function identityOf({ name, version }: DefinitionReference): string {
  return `${name}@${version}`
}
