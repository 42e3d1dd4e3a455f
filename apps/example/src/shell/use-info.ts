import { useEffect, useState } from 'react'
import { recordOf, textOf } from '../api/json-reader.ts'
import { requestJson } from '../api/request.ts'

/** What the server says of itself. */
export interface Info {
  /** The model's name. */
  readonly model: string
  /** There is no language model behind it. */
  readonly isDemo: boolean
}

const retryMs = 3_000

/** Reads what the server says of itself; `undefined` until it has said so. */
export function useInfo(): Info | undefined {
  const [info, setInfo] = useState<Info>()
  useEffect(() => {
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined

    async function load(): Promise<void> {
      try {
        setInfo(infoFrom(await requestJson('/api/info', { signal: leaving.signal })))
      } catch {
        if (!leaving.signal.aborted) timer = setTimeout(() => void load(), retryMs)
      }
    }

    void load()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [])
  return info
}

/** Reads it from the server's JSON. */
export function infoFrom(body: unknown): Info {
  const info = recordOf(body)
  return { model: textOf(info?.['model']) ?? 'unknown model', isDemo: info?.['isDemo'] === true }
}
