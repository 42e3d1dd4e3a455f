import type { JsonValue, OpenInterrupt, Store, StoredRun } from '@holdfast/core'
import { decodeJson } from '@holdfast/json'
import { decodeEntries, type JournalEntry, type StoredValue } from '@holdfast/workflow'

/** The reads of a store that tell what a run's journal says. */
export type JournalReader = Pick<Store, 'run' | 'journal' | 'blob'>

/** What a run's journal tells a chat. */
export interface RunJournal {
  /** The messages, by id, that a run which has ended had accepted and never got. */
  undelivered(sessionId: string, runId: string): Promise<readonly string[]>
  /** What an interrupt asks, from the run's row, or from the journal when it was too large for that. */
  interruptPayload(
    sessionId: string,
    run: StoredRun,
    interrupt: OpenInterrupt,
  ): Promise<JsonValue | undefined>
}

/** Creates a reader of what journals tell. */
export function createRunJournal(store: JournalReader): RunJournal {
  async function entriesAt(
    sessionId: string,
    runId: string,
    revision: number,
  ): Promise<readonly JournalEntry[]> {
    const [row] = await store.journal(sessionId, runId, { from: revision, limit: 1 })
    return row === undefined || row.revision !== revision ? [] : decodeEntries(row).entries
  }

  async function valueOf(
    sessionId: string,
    runId: string,
    stored: StoredValue,
  ): Promise<JsonValue | undefined> {
    if ('json' in stored) return stored.json
    if (!('blob' in stored)) return undefined
    const bytes = await store.blob(sessionId, runId, stored.blob)
    return bytes === undefined ? undefined : decodeJson(bytes)
  }

  return {
    async undelivered(sessionId, runId) {
      const run = await store.run(sessionId, runId)
      if (run === undefined) return []
      const entries = await entriesAt(sessionId, runId, run.journalNext - 1)
      return entries.flatMap((entry) => (entry.kind === 'run-ended' ? entry.undelivered : []))
    },
    async interruptPayload(sessionId, run, interrupt) {
      if (interrupt.payload !== undefined) return interrupt.payload as JsonValue
      const runId = run.record.id
      const entries = await entriesAt(sessionId, runId, interrupt.revision)
      for (const entry of entries) {
        if (entry.kind !== 'interrupt-opened' || entry.interruptId !== interrupt.id) continue
        return entry.payload === undefined
          ? undefined
          : await valueOf(sessionId, runId, entry.payload)
      }
      return undefined
    },
  }
}
