/** Ids of late: beyond so many, the oldest are forgotten. */
export class RecentSet {
  readonly #ids = new Set<string>()
  readonly #kept: number

  constructor(kept: number) {
    this.#kept = kept
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    this.#ids.delete(id)
    this.#ids.add(id)
    if (this.#ids.size <= this.#kept) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      return
    }
  }

  delete(id: string): void {
    this.#ids.delete(id)
  }
}
