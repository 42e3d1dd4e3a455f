const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long ago something was, roughly: "just now", "5 min ago", "3 h ago", "2 days ago", then the date. */
export function timeAgo(time: number, now: number): string {
  const passed = Math.max(0, now - time)
  if (passed < minute) return 'just now'
  if (passed < hour) return `${Math.floor(passed / minute)} min ago`
  if (passed < day) return `${Math.floor(passed / hour)} h ago`
  const days = Math.floor(passed / day)
  if (days === 1) return 'yesterday'
  if (days < 7) return `${days} days ago`
  return new Date(time).toLocaleDateString(undefined, {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  })
}
