// Paths as far as loops are concerned: `loop:3/charge#2` lies in iteration 3 of `loop`.

/** One iteration that a path lies in. */
export interface Iteration {
  readonly loop: string
  readonly number: number
}

/** The iterations that a path lies in, outermost first. */
export function iterationsOf(path: string): readonly Iteration[] {
  if (!path.includes(':')) return []
  const found: Iteration[] = []
  for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
    const match = /^(.*):(\d+)$/.exec(path.slice(0, end))
    const [, loop, number] = match ?? []
    if (loop !== undefined && number !== undefined) found.push({ loop, number: Number(number) })
  }
  return found
}
