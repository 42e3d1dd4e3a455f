// SQL as one text. What is sent goes in the simple protocol: several statements in one round trip,
// and nothing that a connection would have to remember (docs/decisions/0023).

/** What can stand in a statement: text, a number, a truth, nothing. */
export type SqlValue = string | number | boolean | null

/** A piece of SQL whose values are in it already, safely. Made by {@link sql} and {@link trusted} alone. */
export interface SqlText {
  readonly text: string
}

/** SQL that stands in this package's source, or that was checked: never what a caller gave. */
export function trusted(text: string): SqlText {
  return { text }
}

/** A template whose values become literals. Pieces of SQL stay what they are. */
export function sql(
  strings: TemplateStringsArray,
  ...values: readonly (SqlValue | SqlText)[]
): SqlText {
  let text = strings[0] ?? ''
  for (const [index, value] of values.entries()) {
    text += (isText(value) ? value.text : literal(value)) + (strings[index + 1] ?? '')
  }
  return { text }
}

function isText(value: SqlValue | SqlText): value is SqlText {
  return typeof value === 'object' && value !== null
}

function literal(value: SqlValue): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (!Number.isFinite(value)) throw new TypeError('A number in SQL must be finite.')
  // In brackets, so that a sign can stand behind an operator.
  return value < 0 ? `(${value})` : String(value)
}

/**
 * Text as a literal, whatever `standard_conforming_strings` says: a backslash stands in an escape
 * string alone, and is doubled there. Whole replacements, as the driver's own goes by characters.
 */
function quote(text: string): string {
  if (text.includes('\0')) throw new TypeError('Text in SQL cannot hold U+0000.')
  const quoted = text.includes("'") ? text.replaceAll("'", "''") : text
  if (!quoted.includes('\\')) return `'${quoted}'`
  return ` E'${quoted.replaceAll('\\', '\\\\')}'`
}
