/** What browsers do and see, at which a kill is worth most. */
export const momentKinds = [
  'message-sent',
  'message-acknowledged',
  'chunk',
  'tool-called',
  'approval-asked',
  'decision-sent',
  'decision-acknowledged',
  'answer-ended',
  'question-open',
  'resume-sent',
  'resume-acknowledged',
  'cancel-sent',
  'cancel-acknowledged',
  'steering-sent',
  'steering-acknowledged',
] as const

export type MomentKind = (typeof momentKinds)[number]

/** Tells the killer of moments. */
export class Moments {
  readonly #waiting = new Map<MomentKind, Set<() => void>>()

  /** Something of this kind happens now. */
  note(kind: MomentKind): void {
    const waiting = this.#waiting.get(kind)
    this.#waiting.delete(kind)
    for (const wake of waiting ?? []) wake()
  }

  /** Resolves at the next one of this kind, or after so many milliseconds. */
  async next(kind: MomentKind, withinMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const waiting = this.#waiting.get(kind) ?? new Set()
      this.#waiting.set(kind, waiting)
      const wake = (): void => {
        clearTimeout(timer)
        waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, withinMs)
      waiting.add(wake)
    })
  }
}
