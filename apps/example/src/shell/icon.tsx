const paths = {
  chats: 'M4 5h16M4 12h16M4 19h10',
  runs: 'M4 6h10M4 12h16M4 18h7M18 3v6M15 6h6',
  close: 'M6 6l12 12M18 6L6 18',
  plus: 'M12 5v14M5 12h14',
  send: 'M12 19V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  down: 'M12 5v14M6 13l6 6 6-6',
  chevron: 'M9 6l6 6-6 6',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M7 7l10 10M17 7L7 17',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  alert: 'M12 4l9 16H3zM12 10v4.5M12 17.2v.3',
} as const

/** The pictures there are. */
export type IconName = keyof typeof paths

/** A small picture beside words; a screen reader hears only the words. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  )
}
