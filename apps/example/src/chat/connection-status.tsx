/** Says whether the page hears from the server: "live", or "reconnecting…" while it tries to get back. */
export function ConnectionStatus({ isReconnecting }: { readonly isReconnecting: boolean }) {
  return (
    <p
      className={`connection${isReconnecting ? ' is-reconnecting' : ''}`}
      role="status"
      aria-label="connection"
    >
      <span className="connection-dot" aria-hidden="true" />
      <span>{isReconnecting ? 'reconnecting…' : 'live'}</span>
    </p>
  )
}
