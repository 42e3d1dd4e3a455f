// Whether this process has code for a run, and what its definition says of runs made by other code.
//
// The digest decides, never the code: name, version, schemas and the author's `revision`.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { RegisteredDefinition, RunRecord, SkewPolicy } from '@holdfast/core'
import type { Migration } from './migration.ts'
import { depthOf, normalName } from './operation-names.ts'

/** How a run and the code of this process stand to each other. */
export type Fit =
  | { readonly kind: 'fits'; readonly registered: RegisteredDefinition }
  | {
      readonly kind: 'migrates'
      readonly registered: RegisteredDefinition
      readonly migration: Migration
    }
  | {
      readonly kind: 'unfit'
      readonly why: 'unknown' | 'changed' | 'rejected' | 'not_migrated'
      readonly cause?: unknown
    }

/** The digest of the definition that a run's journal is for. */
export function digestOf(record: RunRecord): string {
  return record.migratedTo ?? record.definition.digest
}

/** Judges a run by the definition that this process has under its name and version. */
export function fitOf(record: RunRecord, registered: RegisteredDefinition | undefined): Fit {
  if (registered === undefined) return { kind: 'unfit', why: 'unknown' }
  const digest = digestOf(record)
  if (registered.digest === digest) return { kind: 'fits', registered }
  const policy: SkewPolicy = registered.definition.skew ?? { kind: 'pin' }
  switch (policy.kind) {
    case 'pin':
      return { kind: 'unfit', why: 'changed' }
    case 'reject':
      return { kind: 'unfit', why: 'rejected' }
    case 'migrate':
      try {
        const migration = checked(policy.migrate({ digest }), registered.digest)
        return { kind: 'migrates', registered, migration }
      } catch (cause) {
        return { kind: 'unfit', why: 'not_migrated', cause }
      }
  }
}

/** What a `migrate` function gave, checked. @throws `configuration_invalid` */
function checked(
  given: ReturnType<Extract<SkewPolicy, { readonly kind: 'migrate' }>['migrate']>,
  digest: string,
): Migration {
  const rules = Object.entries(given.renamed ?? {}).map(([from, to]) => ({
    from: nameOf(from),
    to: nameOf(to),
  }))
  const retired = [...(given.retired ?? [])].map(nameOf)
  const uneven = rules.find(({ from, to }) => depthOf(from) !== depthOf(to))
  if (uneven !== undefined) {
    throw invalid(`"${uneven.from}" and "${uneven.to}" do not have the same depth`)
  }
  const sources = new Set(retired)
  const targets = new Set<string>()
  for (const { from, to } of rules) {
    if (sources.has(from)) throw invalid(`"${from}" is both renamed and retired`)
    if (targets.has(to)) throw invalid(`two names become "${to}"`)
    targets.add(to)
  }
  return { digest, renamed: rules, retired }
}

function nameOf(name: unknown): string {
  if (typeof name === 'string' && name !== '' && !name.split('/').includes('')) {
    return normalName(name)
  }
  throw invalid('a name must be keys joined by /')
}

function invalid(rule: string): HoldfastError {
  return new HoldfastError(ErrorCode.configurationInvalid, { message: `migrate: ${rule}.` })
}
