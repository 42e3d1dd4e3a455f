import { useEffect, useRef } from 'react'

/** Calls back when a value is another than the last time, the first time too. */
export function useOnChange(value: string | number | boolean, onChange: () => void): void {
  const seen = useRef<string | number | boolean>(undefined)
  useEffect(() => {
    if (seen.current === value) return
    seen.current = value
    onChange()
  }, [value, onChange])
}
