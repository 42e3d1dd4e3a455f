import type { JournalWriter } from './journal-writer.ts'
import type { OperationHost } from './operation-host.ts'
import type { PendingMigration } from './replay.ts'
import { interruptClosed, migratedTo } from './run-moves.ts'

/**
 * Journals a migration once the code is known to fit what it gives, before anything else of the run.
 *
 * What retired operations have left open goes with it: questions are withdrawn, under their old names and
 * so before the migration's entry; children are cancelled.
 */
export function journalMigration(
  writer: JournalWriter,
  host: OperationHost,
  { migration, interrupts, children }: PendingMigration,
): void {
  const { digest, renamed, retired } = migration
  host.whenLive(() => {
    for (const { path, interruptId } of interrupts) {
      writer.append(
        { kind: 'interrupt-withdrawn', at: writer.time(), path, interruptId },
        { move: interruptClosed(interruptId) },
      )
    }
    writer.append(
      {
        kind: 'run-migrated',
        at: writer.time(),
        digest,
        renamed: [...renamed],
        retired: [...retired],
      },
      { move: migratedTo(digest) },
    )
    for (const childRunId of children) host.children.cancel(childRunId)
  })
}
