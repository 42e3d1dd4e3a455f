import type { UiChunk } from './chunk.ts'

type Family = 'text' | 'reasoning'

/**
 * Takes the next chunk and returns what to pass on: nothing, the chunk, or the chunk after a start
 * that was missing.
 */
export type FramingRepair = (chunk: UiChunk) => readonly UiChunk[]

/**
 * Creates a repair of the framing of text and reasoning parts, for one stream across all of its
 * connections.
 *
 * A start of a part that is open or has ended is dropped, and so are its deltas and end once it has
 * ended; a delta or end with no start gets one. `finish-step` forgets what ended, so that ids may
 * be used again; `reset-step` forgets everything. All other chunks pass as they are. A delta that
 * is delivered twice while its part is open is not recognised: count indexes for that.
 *
 * Behaves like the function of the same purpose in `@ai-sdk/workflow`.
 */
export function createFramingRepair(): FramingRepair {
  const parts: Record<Family, PartIds> = { text: createPartIds(), reasoning: createPartIds() }

  return (chunk) => {
    switch (chunk.type) {
      case 'text-start':
      case 'reasoning-start': {
        const { open, ended } = parts[familyOf(chunk.type)]
        if (open.has(chunk.id) || ended.has(chunk.id)) return []
        open.add(chunk.id)
        return [chunk]
      }
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end': {
        const family = familyOf(chunk.type)
        const { open, ended } = parts[family]
        if (ended.has(chunk.id)) return []
        const wasOpen = open.has(chunk.id)
        open.add(chunk.id)
        if (chunk.type === 'text-end' || chunk.type === 'reasoning-end') {
          open.delete(chunk.id)
          ended.add(chunk.id)
        }
        return wasOpen ? [chunk] : [{ type: `${family}-start`, id: chunk.id }, chunk]
      }
      case 'finish-step':
        parts.text.ended.clear()
        parts.reasoning.ended.clear()
        return [chunk]
      case 'reset-step':
        parts.text = createPartIds()
        parts.reasoning = createPartIds()
        return [chunk]
      default:
        return [chunk]
    }
  }
}

/** The chunks with their framing repaired, as {@link createFramingRepair} says. */
export function repairFraming(chunks: Iterable<UiChunk>): UiChunk[] {
  const repair = createFramingRepair()
  return Array.from(chunks).flatMap((chunk) => repair(chunk))
}

/**
 * The chunks of a stream with their framing repaired, as {@link createFramingRepair} says, each as
 * soon as it comes.
 *
 * Chunks of any type that has the shape are taken, so AI SDK's own chunk type goes in and comes
 * out.
 */
export async function* normalizeUIMessageStreamParts<TChunk extends { readonly type: string }>(
  source: AsyncIterable<TChunk>,
): AsyncGenerator<TChunk> {
  const repair = createFramingRepair()
  for await (const chunk of source) {
    // The repair passes a chunk on untouched or puts a plain start before it, which every such
    // union has.
    yield* repair(chunk as unknown as UiChunk) as unknown as readonly TChunk[]
  }
}

interface PartIds {
  readonly open: Set<string>
  readonly ended: Set<string>
}

function createPartIds(): PartIds {
  return { open: new Set(), ended: new Set() }
}

function familyOf(type: `${Family}-${'start' | 'delta' | 'end'}`): Family {
  return type.startsWith('text-') ? 'text' : 'reasoning'
}
