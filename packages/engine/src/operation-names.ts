// Names of operations as authors write them, against paths as journals have them.
//
// A path's segment is a key with its occurrence and, for a loop, its iteration (`loop#2:3`). A name has
// the keys alone, and stands for all occurrences, all iterations and all that lies in it.

interface Segment {
  readonly key: string
  /** Occurrence and iteration, as they stand in the path. */
  readonly marks: string
}

/** A name in the form in which paths have keys. */
export function normalName(name: string): string {
  return name
    .split('/')
    .map((key) => (key === cleanupKey ? key : key.replaceAll(/[#:]/g, encodeURIComponent)))
    .join('/')
}

/** How deep a name lies. */
export function depthOf(name: string): number {
  return name.split('/').length
}

/** Whether a path is that of the operation with this name, or of one in it. */
export function isNamed(path: string, name: string): boolean {
  const segments = segmentsOf(path)
  return name.split('/').every((key, index) => segments[index]?.key === key)
}

/** A path with one name in the place of another of the same depth. */
export function renamed(path: string, to: string): string {
  const keys = to.split('/')
  return segmentsOf(path)
    .map(({ key, marks }, index) => `${keys[index] ?? key}${marks}`)
    .join('/')
}

/** The most specific of the names that a path has. */
export function longestNamed<Rule>(
  path: string,
  rules: readonly Rule[],
  nameOf: (rule: Rule) => string,
): Rule | undefined {
  let found: Rule | undefined
  for (const rule of rules) {
    if (!isNamed(path, nameOf(rule))) continue
    if (found === undefined || depthOf(nameOf(rule)) > depthOf(nameOf(found))) found = rule
  }
  return found
}

/** The key of a cleanup's scope has marks of its own. */
const cleanupKey = 'cleanup::'

function segmentsOf(path: string): readonly Segment[] {
  return path.split('/').map((segment) => {
    const [, key = segment, marks = ''] = /^(.*?)((?:#\d+)?(?::\d+)?)$/.exec(segment) ?? []
    return { key, marks }
  })
}
