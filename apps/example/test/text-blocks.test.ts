import { describe, expect, test } from 'vitest'
import { blocksFrom, inlinesFrom } from '../src/chat/text-blocks.ts'

describe('text', () => {
  test('is paragraphs with their line breaks', () => {
    expect(blocksFrom('one\ntwo\n\n\nthree\n')).toEqual([
      { kind: 'paragraph', content: [{ kind: 'text', text: 'one\ntwo' }] },
      { kind: 'paragraph', content: [{ kind: 'text', text: 'three' }] },
    ])
  })

  test('is empty when there is nothing', () => {
    expect(blocksFrom(' \n\n ')).toEqual([])
  })

  test('has lists, also right below a line', () => {
    expect(blocksFrom('Two:\n- a\n- `b`\n\n1. x\n2. y')).toEqual([
      { kind: 'paragraph', content: [{ kind: 'text', text: 'Two:' }] },
      {
        kind: 'list',
        isOrdered: false,
        items: [[{ kind: 'text', text: 'a' }], [{ kind: 'code', text: 'b' }]],
      },
      {
        kind: 'list',
        isOrdered: true,
        items: [[{ kind: 'text', text: 'x' }], [{ kind: 'text', text: 'y' }]],
      },
    ])
  })

  test('keeps what stands in a fence as it is, also while the fence is open', () => {
    const code = { kind: 'code', text: 'a **b**\n\n- c' }
    expect(blocksFrom('```ts\na **b**\n\n- c\n```\nafter')).toEqual([
      code,
      { kind: 'paragraph', content: [{ kind: 'text', text: 'after' }] },
    ])
    expect(blocksFrom('```\na **b**\n\n- c')).toEqual([code])
  })

  test('leaves HTML and links as text', () => {
    const text = '<img src=x onerror=alert(1)> [a](javascript:alert(1))'
    expect(blocksFrom(text)).toEqual([{ kind: 'paragraph', content: [{ kind: 'text', text }] }])
  })

  test('every prefix can be shown', () => {
    const text = 'a `b` **c**\n\n- d\n\n```\ne\n```\n1. f'
    for (let length = 0; length <= text.length; length += 1) {
      expect(() => blocksFrom(text.slice(0, length))).not.toThrow()
    }
  })
})

describe('a line', () => {
  test('has code and bold', () => {
    expect(inlinesFrom('a `b` and **c**')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b' },
      { kind: 'text', text: ' and ' },
      { kind: 'strong', text: 'c' },
    ])
  })

  test('leaves lone marks alone', () => {
    expect(inlinesFrom('3 * 4 ` 2 ** 8')).toEqual([{ kind: 'text', text: '3 * 4 ` 2 ** 8' }])
  })
})
