// Keeps what a call gave and hands it to any number of readers, each from the first part on.
//
// F1. Every reader gets every part once, in order, whenever it comes; then its stream closes.
// F2. A reader that is slow, or goes away, holds up nobody: the call writes without waiting.
import type { AsyncIterableStream } from 'ai'

/** Parts of one call, kept until the result that holds them is let go of. */
export class PartFeed<Part> {
  private readonly parts: Part[] = []
  private readonly waiting = new Set<() => void>()
  private closed = false

  push(part: Part): void {
    if (this.closed) return
    this.parts.push(part)
    this.wake()
  }

  close(): void {
    this.closed = true
    this.wake()
  }

  /** A stream of what `take` makes of each part. It is called in order, for this reader. */
  stream<Item>(
    take: (part: Part) => PromiseLike<readonly Item[]> | readonly Item[],
  ): AsyncIterableStream<Item> {
    let index = 0
    let isGone = false
    let leave: (() => void) | undefined
    return new ReadableStream<Item>(
      {
        pull: async (controller) => {
          while (!isGone) {
            const part = this.parts[index]
            if (part !== undefined) {
              index += 1
              const taken = take(part)
              const items = 'then' in taken ? await taken : taken
              if (isGone) return
              for (const item of items) controller.enqueue(item)
              if (items.length > 0) return
              continue
            }
            if (this.closed) return controller.close()
            await new Promise<void>((resolve) => {
              leave = resolve
              this.waiting.add(resolve)
            })
          }
        },
        cancel: () => {
          isGone = true
          if (leave === undefined) return
          this.waiting.delete(leave)
          leave()
        },
      },
      { highWaterMark: 0 },
    ) as AsyncIterableStream<Item>
  }

  private wake(): void {
    const woken = [...this.waiting]
    this.waiting.clear()
    for (const resume of woken) resume()
  }
}
