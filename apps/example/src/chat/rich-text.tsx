import { Fragment, memo } from 'react'
import { type Block, blocksFrom, type Inline } from './text-blocks.ts'

/** A message's text with paragraphs, lists and code. No markup in it is ever taken for HTML. */
export const RichText = memo(function RichText({ text }: { readonly text: string }) {
  return (
    <div className="rich-text">
      {placed(blocksFrom(text)).map(({ place, piece }) => (
        <TextBlock key={place} block={piece} />
      ))}
    </div>
  )
})

function TextBlock({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'paragraph':
      return (
        <p>
          <Inlines content={block.content} />
        </p>
      )
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
      )
    case 'list': {
      const items = placed(block.items).map(({ place, piece }) => (
        <li key={place}>
          <Inlines content={piece} />
        </li>
      ))
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
  }
}

function Inlines({ content }: { readonly content: readonly Inline[] }) {
  return placed(content).map(({ place, piece }) => {
    switch (piece.kind) {
      case 'text':
        return <Fragment key={place}>{piece.text}</Fragment>
      case 'code':
        return <code key={place}>{piece.text}</code>
      case 'strong':
        return <strong key={place}>{piece.text}</strong>
    }
  })
}

/** Pieces with their places. Text grows only at its end, so a place is a piece's identity. */
function placed<Piece>(
  pieces: readonly Piece[],
): readonly { readonly place: number; readonly piece: Piece }[] {
  return pieces.map((piece, place) => ({ place, piece }))
}
