import { type ReactNode, useEffect, useRef } from 'react'
import { Icon } from './icon.tsx'

/** What a drawer shows. */
export interface DrawerProps {
  /** Which side it comes from where there is no room beside the chat. */
  readonly side: 'left' | 'right'
  readonly label: string
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A panel beside the chat; on a narrow page one that slides over it, and that Escape closes. */
export function Drawer({ side, label, isOpen, onClose, children }: DrawerProps) {
  const panel = useRef<HTMLElement>(null)
  const opener = useRef<Element | null>(null)

  useEffect(() => {
    if (!isOpen) return
    opener.current = document.activeElement
    panel.current?.querySelector<HTMLElement>('.drawer-close')?.focus()
    return () => {
      if (opener.current instanceof HTMLElement) opener.current.focus()
    }
  }, [isOpen])

  useEffect(() => {
    if (!isOpen) return
    function onKey(event: KeyboardEvent): void {
      if (event.key === 'Escape') onClose()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [isOpen, onClose])

  return (
    <>
      {isOpen && <div className={`drawer-backdrop drawer-backdrop-${side}`} onClick={onClose} />}
      <aside
        ref={panel}
        className={`drawer drawer-${side}${isOpen ? ' is-open' : ''}`}
        aria-label={label}
      >
        <button type="button" className="icon-button drawer-close" onClick={onClose}>
          <Icon name="close" />
          <span className="visually-hidden">Close {label}</span>
        </button>
        {children}
      </aside>
    </>
  )
}
