/** What is to be read of a JSON text that may be cut off. */
export interface PartialJson {
  readonly value: unknown
  /** Whether the text was whole; else its end was supplied. */
  readonly whole: boolean
}

/**
 * The value of a JSON text that may be cut off anywhere: what is open is closed, and what says nothing yet (half a
 * literal, a key without a value, a trailing comma) is left out. Absent when nothing can be read.
 */
export function parsePartialJson(text: string): PartialJson | undefined {
  const whole = parsed(text)
  if (whole !== undefined) return { value: whole.value, whole: true }
  const repaired = parsed(closed(text))
  return repaired === undefined ? undefined : { value: repaired.value, whole: false }
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

/** Where a reader of an object stands. */
type Place = 'key' | 'colon' | 'value' | 'comma'

interface Open {
  readonly close: '}' | ']'
  place: Place
}

/**
 * The text up to the last place where all that is open can be closed, and the brackets that close it.
 *
 * One pass: `safe` is how much of the text may stand, `ends` what closes it there.
 */
function closed(text: string): string {
  const open: Open[] = []
  let safe = 0
  let ends = ''
  const keep = (length: number): void => {
    safe = length
    ends = open
      .map(({ close }) => close)
      .toReversed()
      .join('')
  }
  const ended = (index: number): void => {
    const around = open.at(-1)
    if (around !== undefined) around.place = 'comma'
    keep(index)
  }
  for (let index = 0; index < text.length;) {
    const mark = text.charAt(index)
    const around = open.at(-1)
    if (mark === '"') {
      const end = endOfString(text, index)
      const isKey = around?.close === '}' && around.place === 'key'
      if (end === undefined) return isKey ? text.slice(0, safe) + ends : openString(text, open)
      if (isKey) around.place = 'colon'
      else ended(end)
      index = end
      continue
    }
    index += 1
    if (mark === '{' || mark === '[') {
      open.push(mark === '{' ? { close: '}', place: 'key' } : { close: ']', place: 'value' })
      keep(index)
    } else if (mark === '}' || mark === ']') {
      open.pop()
      ended(index)
    } else if (mark === ':') {
      if (around !== undefined) around.place = 'value'
    } else if (mark === ',') {
      if (around !== undefined) around.place = around.close === '}' ? 'key' : 'value'
    } else if (!/\s/.test(mark)) {
      const literal = /^[-+.\w]*/.exec(text.slice(index - 1))?.[0] ?? mark
      const end = index - 1 + Math.max(1, literal.length)
      const value = literalPrefix(literal)
      if (value.length > 0) {
        if (end === text.length && value !== literal) {
          keep(index - 1)
          return text.slice(0, index - 1) + value + ends
        }
        ended(end)
      }
      index = end
    }
  }
  return text.slice(0, safe) + ends
}

/** The index behind a string's closing quote. */
function endOfString(text: string, start: number): number | undefined {
  for (let index = start + 1; index < text.length; index += 1) {
    const mark = text.charAt(index)
    if (mark === '\\') index += 1
    else if (mark === '"') return index + 1
  }
  return undefined
}

/** A string value that is cut: closed where it is, without half an escape. */
function openString(text: string, open: readonly Open[]): string {
  const whole = text.replace(/\\(?:u[\da-fA-F]{0,3})?$/, (cut, offset: number) =>
    isEscaped(text, offset) ? cut : '',
  )
  return `${whole}"${open
    .map(({ close }) => close)
    .toReversed()
    .join('')}`
}

/** Whether the backslash at this index is itself behind an odd number of backslashes. */
function isEscaped(text: string, index: number): boolean {
  let before = 0
  while (text.charAt(index - before - 1) === '\\') before += 1
  return before % 2 === 1
}

/** What a literal that may be cut says already: words are completed, numbers lose an end that says nothing. */
function literalPrefix(literal: string): string {
  const word = ['true', 'false', 'null'].find((known) => known.startsWith(literal))
  if (word !== undefined) return word
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?/.exec(literal)?.[0] ?? ''
}
