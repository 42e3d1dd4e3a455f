import { useEffect, useState } from 'react'
import { readableJson } from '../chat/readable-json.ts'
import { loadRun } from './run-api.ts'

/** What came of a run, folded away and read when it is opened. */
export function RunResult({ runId }: { readonly runId: string }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details className="fold" onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>Result</summary>
      {isOpen && <Output runId={runId} />}
    </details>
  )
}

type Reading =
  | { readonly state: 'loading' }
  | { readonly state: 'read'; readonly output: unknown }
  | { readonly state: 'failed'; readonly message: string }

function Output({ runId }: { readonly runId: string }) {
  const [reading, setReading] = useState<Reading>({ state: 'loading' })
  useEffect(() => {
    const leaving = new AbortController()
    async function read(): Promise<void> {
      try {
        const run = await loadRun(runId, leaving.signal)
        setReading({ state: 'read', output: run?.output })
      } catch (error) {
        if (leaving.signal.aborted) return
        const message = error instanceof Error ? error.message : 'The result could not be read.'
        setReading({ state: 'failed', message })
      }
    }
    void read()
    return () => leaving.abort()
  }, [runId])

  switch (reading.state) {
    case 'loading':
      return <p className="panel-note">Loading…</p>
    case 'failed':
      return <p className="field-problem">{reading.message}</p>
    case 'read':
      if (reading.output === undefined) return <p className="panel-note">It left nothing.</p>
      return (
        <pre tabIndex={0} aria-label="result">
          <code>{readableJson(reading.output)}</code>
        </pre>
      )
  }
}
