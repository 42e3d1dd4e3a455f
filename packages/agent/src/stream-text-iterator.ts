import { untilAborted } from './timeouts.ts'

/** A step, or that there is no further one. */
export type NextStep<Step> =
  | { readonly done: false; readonly value: Step }
  | { readonly done: true; readonly value: undefined }

const noMore = { done: true, value: undefined } as const

/**
 * The steps of a run, one after another: of a list, of a source that is still giving them, or of a finished result.
 *
 * For one reader. `close` ends what this iterator gives; it neither drains nor cancels the source.
 */
export class StreamTextIterator<Step> implements AsyncIterable<Step> {
  private readonly take: (signal: AbortSignal | undefined) => Promise<NextStep<Step>>
  private isClosed = false

  /** Iterates a copy of the list. */
  constructor(steps: readonly Step[]) {
    const list = [...steps]
    let index = 0
    this.take = async (signal) => {
      signal?.throwIfAborted()
      if (index >= list.length) return noMore
      const value = list[index] as Step
      index += 1
      return { done: false, value }
    }
  }

  /** Iterates steps as a source gives them: a stream or a generator. A wait that is aborted loses no step. */
  static fromChannel<Step>(source: AsyncIterable<Step>): StreamTextIterator<Step> {
    const iterator = source[Symbol.asyncIterator]()
    let coming: Promise<IteratorResult<Step, unknown>> | undefined
    return StreamTextIterator.of(async (signal) => {
      coming ??= iterator.next()
      const asked = coming
      const next = await (signal === undefined ? asked : untilAborted(asked, signal))
      coming = undefined
      return next.done === true ? noMore : { done: false, value: next.value }
    })
  }

  /** Iterates the steps of a result that is there; of none, nothing. */
  static fromResult<Step>(
    result: { readonly steps: readonly Step[] } | null | undefined,
  ): StreamTextIterator<Step> {
    return new StreamTextIterator(result?.steps ?? [])
  }

  private static of<Step>(
    take: (signal: AbortSignal | undefined) => Promise<NextStep<Step>>,
  ): StreamTextIterator<Step> {
    return Object.assign(new StreamTextIterator<Step>([]), { take })
  }

  /**
   * The next step, or the end: also after `close`.
   *
   * @throws the signal's reason when it has fired or fires before the step comes; what the source throws
   */
  async next(options: { readonly signal?: AbortSignal } = {}): Promise<NextStep<Step>> {
    return this.isClosed ? noMore : this.take(options.signal)
  }

  close(): void {
    this.isClosed = true
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Step, void, undefined> {
    for (let next = await this.next(); !next.done; next = await this.next()) yield next.value
  }
}
