import { RunCard } from './run-card.tsx'
import { runTree } from './run-tree.ts'
import type { Runs } from './use-runs.ts'

/** The work that goes on beside the chat. */
export function RunsPanel({ runs }: { readonly runs: Runs }) {
  const nodes = runTree(runs.runs)
  return (
    <>
      <header className="panel-head">
        <h2>Runs</h2>
        {runs.isStale && (
          <p className="panel-note">Not up to date: the server cannot be reached.</p>
        )}
      </header>
      <div className="run-list">
        {nodes.length === 0 && (
          <p className="panel-empty">
            {runs.isLoading
              ? 'Loading…'
              : 'Work that takes a while, such as a refund or a report, shows here with its progress and its questions.'}
          </p>
        )}
        {nodes.map((node) => (
          <RunCard key={node.run.id} node={node} onChanged={runs.refresh} />
        ))}
      </div>
    </>
  )
}
