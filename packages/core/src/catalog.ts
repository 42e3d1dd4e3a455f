import type { AnyWorkflowDefinition } from './definition.ts'
import type { JsonObject, JsonValue } from './json-value.ts'

/** Why a value does not fit a schema. Paths are JSON pointers; messages hold no values. */
export interface SchemaIssue {
  readonly path: string
  readonly message: string
}

/** What checking a value against a schema says. */
export type SchemaCheck =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

/** A definition as registered: checked, frozen, its schemas compiled once. */
export interface RegisteredDefinition {
  readonly name: string
  readonly version: string
  readonly description: string
  /** Of name, version, schemas and `revision`; never of code. */
  readonly digest: string
  readonly inputSchema: JsonObject
  readonly resumeSchema?: JsonObject
  readonly outputSchema?: JsonObject
  readonly definition: AnyWorkflowDefinition
  checkInput(value: JsonValue): SchemaCheck
  /** @throws `resume_unsupported` when the definition has no resume schema */
  checkResume(value: JsonValue): SchemaCheck
  checkOutput(value: JsonValue): SchemaCheck
}

/** The definitions of a process by exact name and version. There is no "latest". */
export interface Catalog {
  /** @throws `definition_unknown` */
  resolve(name: string, version: string): RegisteredDefinition
  find(name: string, version: string): RegisteredDefinition | undefined
  /** By name, then version, in byte order. */
  list(): readonly RegisteredDefinition[]
}
