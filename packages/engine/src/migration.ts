// A journal under the names of a newer definition.
//
// M1. What a migration renames is everything that was journaled before it, and nothing after.
// M2. Two operations never come to share a path: such a migration does not fit.
// M3. Ids that the outside knows (idempotency keys, interrupts, children) stay those of the old names;
//     a name that a migration freed, used anew, gives new ones.
import { ErrorCode, HoldfastError } from '@holdfast/core'
import type { JournalEntry, JournalRevision } from '@holdfast/workflow'
import { isNamed, longestNamed, renamed } from './operation-names.ts'

/** What changes between two definitions. Names are normal ones. */
export interface Migration {
  /** Of the definition that it leads to. */
  readonly digest: string
  readonly renamed: readonly { readonly from: string; readonly to: string }[]
  readonly retired: readonly string[]
}

/** A journal entry under its newest name; `retired`: by the migration that is about to be made, or an earlier one. */
export interface NamedEntry {
  readonly entry: JournalEntry
  readonly retired?: 'now' | 'earlier'
}

/** A revision whose entries have their newest names. */
export interface NamedRevision {
  readonly revision: number
  readonly completedSteps: number
  readonly entries: readonly NamedEntry[]
}

/** Reads revisions, in their order, under the names of the migrations among them and of a new one. */
export function newestNames(
  revisions: readonly JournalRevision[],
  pending: Migration | undefined,
): { readonly revisions: readonly NamedRevision[]; readonly migrations: readonly Migration[] } {
  const made = revisions.flatMap(({ entries }) =>
    entries.flatMap((entry) => (entry.kind === 'run-migrated' ? [migrationOf(entry)] : [])),
  )
  const migrations = pending === undefined ? made : [...made, pending]
  if (migrations.length === 0) {
    return {
      migrations,
      revisions: revisions.map(({ entries, ...rest }) => ({
        ...rest,
        entries: entries.map((entry) => ({ entry })),
      })),
    }
  }
  const taken = new Map<string, string>()
  let passed = 0
  const named = revisions.map(({ entries, ...rest }) => ({
    ...rest,
    entries: entries.map((entry) => {
      if (entry.kind === 'run-migrated') passed += 1
      return nameOf(entry, migrations.slice(passed), pending, taken, passed)
    }),
  }))
  return { revisions: named, migrations }
}

/** The path that an operation had when it was first asked for: what its ids are made of. */
export function originOf(migrations: readonly Migration[], path: string): string {
  let origin = path
  for (const migration of migrations.toReversed()) {
    const rule = longestNamed(origin, migration.renamed, ({ to }) => to)
    if (rule !== undefined) origin = renamed(origin, rule.from)
    else if (isFreed(migration, origin)) return `${origin}?${migration.digest.slice(0, 16)}`
  }
  return origin
}

function nameOf(
  entry: JournalEntry,
  ahead: readonly Migration[],
  pending: Migration | undefined,
  taken: Map<string, string>,
  passed: number,
): NamedEntry {
  if (!('path' in entry)) return { entry }
  let { path } = entry
  for (const migration of ahead) {
    const rule = longestNamed(path, migration.renamed, ({ from }) => from)
    const retired = longestNamed(path, migration.retired, (name) => name)
    if (retired !== undefined && (rule === undefined || retired.length > rule.from.length)) {
      return { entry, retired: migration === pending ? 'now' : 'earlier' }
    }
    if (rule !== undefined) path = renamed(path, rule.to)
  }
  if (ahead.length === 0) return { entry }
  const origin = `${passed} ${entry.path}`
  const other = taken.get(path)
  if (other !== undefined && other !== origin && other.startsWith(`${passed} `)) throw shared(path)
  taken.set(path, origin)
  return { entry: path === entry.path ? entry : { ...entry, path } }
}

function isFreed({ renamed: rules, retired }: Migration, path: string): boolean {
  return (
    rules.some(({ from }) => isNamed(path, from)) || retired.some((name) => isNamed(path, name))
  )
}

function migrationOf(entry: Extract<JournalEntry, { readonly kind: 'run-migrated' }>): Migration {
  const { digest, renamed: rules, retired } = entry
  return { digest, renamed: rules, retired }
}

function shared(path: string): HoldfastError {
  return new HoldfastError(ErrorCode.determinism, {
    message: `After the migration, two operations would be "${path}".`,
  })
}
