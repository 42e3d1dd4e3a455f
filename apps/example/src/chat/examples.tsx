/** Requests that show what the desk can do. */
export const exampleRequests = [
  'look up order 1001',
  'refund order 1002',
  'cancel order 1003',
  'write a report on kelp',
  'what is running?',
  'count to 50 aloud',
] as const

/** What the examples need. */
export interface ExamplesProps {
  readonly onSend: (text: string) => void
}

/** Example requests to click. */
export function Examples({ onSend }: ExamplesProps) {
  return (
    <ul className="examples" aria-label="example requests">
      {exampleRequests.map((request) => (
        <li key={request}>
          <button type="button" className="chip" onClick={() => onSend(request)}>
            {request}
          </button>
        </li>
      ))}
    </ul>
  )
}
