import type { Connection } from './open-chat-state.ts'

/** Says whether the page hears from the server: "live", or "reconnecting…" while it tries to get back. */
export function ConnectionStatus({ connection }: { readonly connection: Connection }) {
  const isReconnecting = connection.state === 'reconnecting'
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
