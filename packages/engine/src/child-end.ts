import { decodeEntries } from '@holdfast/workflow'
import type { JsonValue, Store } from '@holdfast/core'
import { endOf } from './run-end.ts'
import { decodeValue } from './stored-values.ts'

/** Reads how a child of a session ended: its output, if it left one. */
export async function readChildEnd(
  store: Store,
  sessionId: string,
  runId: string,
): Promise<{ readonly output?: JsonValue }> {
  const child = await store.run(sessionId, runId)
  if (child === undefined || child.journalNext === 0) return {}
  const rows = await store.journal(sessionId, runId, { from: child.journalNext - 1, limit: 1 })
  const end = endOf(rows.flatMap((row) => decodeEntries(row).entries))
  if (end?.output === undefined) return {}
  const output = await decodeValue(store, { sessionId, runId }, end.output)
  return output === undefined ? {} : { output }
}
