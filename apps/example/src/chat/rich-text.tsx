import { Fragment, memo } from 'react'
import { type Block, blocksFrom, type Inline } from './text-blocks.ts'

/** A message's text with paragraphs, lists and code. No markup in it is ever taken for HTML. */
export const RichText = memo(function RichText({ text }: { readonly text: string }) {
  return (
    <div className="rich-text">
      {blocksFrom(text).map((block, index) => (
        // Text only grows at its end, so a block's place is its identity.
        <TextBlock key={index} block={block} />
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
      const items = block.items.map((content, index) => (
        <li key={index}>
          <Inlines content={content} />
        </li>
      ))
      return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
  }
}

function Inlines({ content }: { readonly content: readonly Inline[] }) {
  return content.map((inline, index) => {
    switch (inline.kind) {
      case 'text':
        return <Fragment key={index}>{inline.text}</Fragment>
      case 'code':
        return <code key={index}>{inline.text}</code>
      case 'strong':
        return <strong key={index}>{inline.text}</strong>
    }
  })
}
