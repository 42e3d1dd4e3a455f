import type { ModelCallStreamPart } from '@holdfast/agent'

/** A writable that keeps what it is given, and says whether it was closed. */
export interface PartCollector {
  readonly parts: ModelCallStreamPart[]
  readonly writable: WritableStream<ModelCallStreamPart>
  readonly isClosed: () => boolean
  readonly types: () => string[]
}

export function collector(onPart?: (part: ModelCallStreamPart) => void): PartCollector {
  const parts: ModelCallStreamPart[] = []
  let closed = false
  return {
    parts,
    writable: new WritableStream<ModelCallStreamPart>({
      write(part) {
        parts.push(part)
        onPart?.(part)
      },
      close() {
        closed = true
      },
    }),
    isClosed: () => closed,
    types: () => parts.map((part) => part.type),
  }
}
