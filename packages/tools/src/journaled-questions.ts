import type { JsonObject, OpenInterrupt, RunReader, Store, StoredRun } from '@holdfast/core'
import { unansweredInterrupts } from '@holdfast/core'
import { isJsonObject } from '@holdfast/json'
import { decodeEntries } from '@holdfast/workflow'
import type { SessionRuns } from './session-runs.ts'

/** Reads runs and, where it can, what their journals hold; a store does both. */
export type ToolRunReader = RunReader & Partial<Pick<Store, 'journal'>>

/** Of one run, so that a call stays short whatever a run asks. */
const revisionsRead = 32

/**
 * The run with the schemas of its open questions, from its journal where its row was too large for
 * them. Questions that have none of their own stay without.
 */
export async function withJournaledSchemas(
  { sessionId, reader }: SessionRuns,
  run: StoredRun,
): Promise<StoredRun> {
  const lacking = unansweredInterrupts(run).filter(({ schema }) => schema === undefined)
  if (lacking.length === 0 || reader.journal === undefined) return run
  const revisions = [...new Set(lacking.map(({ revision }) => revision))].slice(0, revisionsRead)
  const schemas = new Map<string, JsonObject>()
  for (const from of revisions) {
    const [row] = await reader.journal(sessionId, run.record.id, { from, limit: 1 })
    if (row === undefined || row.revision !== from) continue
    for (const entry of decodeEntries(row).entries) {
      if (entry.kind !== 'interrupt-opened' || entry.schema === undefined) continue
      if (isJsonObject(entry.schema)) schemas.set(entry.interruptId, entry.schema)
    }
  }
  if (schemas.size === 0) return run
  const interrupts = run.record.interrupts.map((interrupt): OpenInterrupt => {
    const schema = interrupt.schema ?? schemas.get(interrupt.id)
    return schema === undefined ? interrupt : { ...interrupt, schema }
  })
  return { ...run, record: { ...run.record, interrupts } }
}
