export { defineWorkflow } from './define-workflow.ts'
export type { SchemaValue, TypedDefinition } from './define-workflow.ts'
export { createCatalog } from './catalog.ts'
export { definitionDigest } from './definition-digest.ts'
export type { DefinitionSchemas } from './definition-digest.ts'
export { StoredError, StoredValue } from './stored-value.ts'
export { journalEntrySchemas } from './journal-entry.ts'
export type {
  JournalEntry,
  JournalEntryKind,
  JournalEntryOf,
  JournalRevision,
} from './journal-entry.ts'
export { decodeEntries, encodeEntries, journalVersion } from './journal-codec.ts'
export { decodeInboxEntry, encodeInboxEntry, InboxEntry, inboxVersion } from './inbox-entry.ts'
export { eventIdOf, interruptIdOf, stepIdOf } from './event-id.ts'
export type { EventIdentity } from './event-id.ts'
export { projectActivities } from './activity-projection.ts'
export type { ProjectedRun } from './activity-projection.ts'
