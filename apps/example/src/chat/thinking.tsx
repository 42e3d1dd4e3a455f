/** Shows that an answer is being written while there is nothing of it to see. */
export function Thinking() {
  return (
    <p className="thinking">
      <span className="visually-hidden">The answer is being written</span>
      <i aria-hidden="true" />
      <i aria-hidden="true" />
      <i aria-hidden="true" />
    </p>
  )
}
