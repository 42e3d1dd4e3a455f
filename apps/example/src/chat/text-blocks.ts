/** A piece of a line. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong'; readonly text: string }

/** A piece of a message's text. */
export type Block =
  | { readonly kind: 'paragraph'; readonly content: readonly Inline[] }
  | {
      readonly kind: 'list'
      readonly isOrdered: boolean
      readonly items: readonly (readonly Inline[])[]
    }
  | { readonly kind: 'code'; readonly text: string }

/**
 * Reads the little of Markdown that a chat needs: paragraphs, line breaks, lists, fenced and inline code, bold.
 *
 * Everything else stays as it was written, and text that is still arriving reads well: a fence that is not closed yet is code to
 * the end, a lone backtick is a backtick. Links and HTML are text.
 */
export function blocksFrom(text: string): readonly Block[] {
  const blocks: Block[] = []
  const pieces = text.split(/^```[^\n]*$\n?/m)
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) blocks.push({ kind: 'code', text: piece.replace(/\n$/, '') })
    else blocks.push(...proseFrom(piece))
  }
  return blocks
}

/** The pieces of a line or paragraph. */
export function inlinesFrom(text: string): readonly Inline[] {
  const inlines: Inline[] = []
  let from = 0
  for (const match of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*/g)) {
    if (match.index > from) inlines.push({ kind: 'text', text: text.slice(from, match.index) })
    const [whole, code, strong] = match
    inlines.push(
      code === undefined ? { kind: 'strong', text: strong ?? '' } : { kind: 'code', text: code },
    )
    from = match.index + whole.length
  }
  if (from < text.length) inlines.push({ kind: 'text', text: text.slice(from) })
  return inlines
}

const bullet = /^\s{0,3}[-*]\s+/
const number = /^\s{0,3}\d{1,3}[.)]\s+/

function proseFrom(text: string): readonly Block[] {
  return text
    .split(/\n[ \t]*\n/)
    .map((paragraph) => paragraph.replace(/^\n+|\s+$/g, ''))
    .filter((paragraph) => paragraph !== '')
    .flatMap(linesFrom)
}

/** A paragraph's lines: those that begin like a list's items are one. */
function linesFrom(paragraph: string): readonly Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let marker: RegExp | undefined

  function close(): void {
    if (lines.length === 0) return
    blocks.push(
      marker === undefined
        ? { kind: 'paragraph', content: inlinesFrom(lines.join('\n')) }
        : { kind: 'list', isOrdered: marker === number, items: lines.map(inlinesFrom) },
    )
    lines = []
  }

  for (const line of paragraph.split('\n')) {
    const found = [bullet, number].find((pattern) => pattern.test(line))
    if (found !== marker) close()
    marker = found
    lines.push(found === undefined ? line : line.replace(found, ''))
  }
  close()
  return blocks
}
