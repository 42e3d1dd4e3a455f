import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

/** How near to its end, in pixels, still counts as there. */
const slack = 48

/** Keeps a scrolled element at its end while it grows, unless the person has scrolled away from it. */
export function useStickToEnd(): {
  readonly log: RefObject<HTMLDivElement | null>
  readonly isAtEnd: boolean
  readonly toEnd: () => void
} {
  const log = useRef<HTMLDivElement>(null)
  const sticks = useRef(true)
  const [isAtEnd, setIsAtEnd] = useState(true)

  useEffect(() => {
    const element = log.current
    const content = element?.firstElementChild
    if (element === null || content === null || content === undefined) return

    function onScroll(): void {
      if (element === null) return
      sticks.current = element.scrollHeight - element.scrollTop - element.clientHeight < slack
      setIsAtEnd(sticks.current)
    }

    const growth = new ResizeObserver(() => {
      if (sticks.current) element.scrollTop = element.scrollHeight
      else onScroll()
    })
    growth.observe(content)
    growth.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      growth.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [])

  const toEnd = useCallback(() => {
    sticks.current = true
    setIsAtEnd(true)
    log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [])

  return { log, isAtEnd, toEnd }
}
