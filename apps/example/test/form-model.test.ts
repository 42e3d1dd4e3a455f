import { describe, expect, test } from 'vitest'
import { answerFrom, formModelFrom, humanName, initialValues } from '../src/runs/form-model.ts'

const refund = {
  type: 'object',
  required: ['approved'],
  properties: { approved: { type: 'boolean' }, note: { type: 'string', maxLength: 500 } },
}

function modelOf(schema: unknown) {
  const model = formModelFrom(schema)
  if (model === undefined) throw new Error('There is no form for this schema.')
  return model
}

describe('the form of a schema', () => {
  test('has two buttons for a required decision, and fields for the rest', () => {
    expect(modelOf(refund)).toEqual({
      decision: 'approved',
      fields: [
        {
          name: 'note',
          label: 'Note',
          isRequired: false,
          type: { kind: 'text', isLong: true, maxLength: 500 },
        },
      ],
    })
  })

  test('takes the only required boolean for a decision, whatever its name', () => {
    const schema = { required: ['ship_it'], properties: { ship_it: { type: 'boolean' } } }
    expect(modelOf(schema)).toEqual({ decision: 'ship_it', fields: [] })
  })

  test('leaves an optional boolean a check box', () => {
    const schema = { properties: { approved: { type: 'boolean', title: 'All right?' } } }
    expect(modelOf(schema)).toEqual({
      fields: [
        { name: 'approved', label: 'All right?', isRequired: false, type: { kind: 'boolean' } },
      ],
    })
  })

  test('has bounds, choices and hints', () => {
    const schema = {
      required: ['count', 'size'],
      properties: {
        count: { type: 'integer', minimum: 0, maximum: 9, description: 'How many.' },
        size: { anyOf: [{ const: 'small' }, { const: 'large' }] },
        colour: { enum: ['red', 'blue'] },
        list: { type: 'array' },
      },
    }
    expect(modelOf(schema).fields).toEqual([
      {
        name: 'count',
        label: 'Count',
        hint: 'How many.',
        isRequired: true,
        type: { kind: 'number', isInteger: true, min: 0, max: 9 },
      },
      {
        name: 'size',
        label: 'Size',
        isRequired: true,
        type: { kind: 'choice', options: ['small', 'large'] },
      },
      {
        name: 'colour',
        label: 'Colour',
        isRequired: false,
        type: { kind: 'choice', options: ['red', 'blue'] },
      },
      { name: 'list', label: 'List', isRequired: false, type: { kind: 'json' } },
    ])
  })

  test.each([undefined, null, true, 'text', {}, { type: 'object' }])('is none for %j', (schema) => {
    expect(formModelFrom(schema)).toBeUndefined()
  })

  test('is none for more properties than a person would fill in', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 33 }, (_, index) => [`p${index}`, {}]),
    )
    expect(formModelFrom({ properties })).toBeUndefined()
  })

  test('begins with the defaults', () => {
    const schema = {
      properties: { a: { default: true }, b: { default: 'x' }, c: { default: 3 }, d: {} },
    }
    expect(initialValues(schema)).toEqual({ a: true, b: 'x', c: '3' })
  })
})

describe('the answer of a form', () => {
  test('carries the decision and leaves out what is empty', () => {
    const model = modelOf(refund)
    expect(answerFrom(model, {}, true)).toEqual({ ok: true, answer: { approved: true } })
    expect(answerFrom(model, { note: 'no stock' }, false)).toEqual({
      ok: true,
      answer: { approved: false, note: 'no stock' },
    })
  })

  const counter = modelOf({
    required: ['increment'],
    properties: { increment: { type: 'integer', minimum: 0, maximum: 100 } },
  })

  test.each([
    ['', 'This is needed.'],
    ['  ', 'This is needed.'],
    ['five', 'This is not a number.'],
    ['1.5', 'A whole number is needed.'],
    ['-1', 'At least 0.'],
    ['101', 'At most 100.'],
    ['9007199254740993', 'A whole number is needed.'],
  ])('says what is wrong with %j', (increment, problem) => {
    expect(answerFrom(counter, { increment })).toEqual({
      ok: false,
      problems: { increment: problem },
    })
  })

  test('is a number for a number field', () => {
    expect(answerFrom(counter, { increment: ' 5 ' })).toEqual({
      ok: true,
      answer: { increment: 5 },
    })
  })

  test('keeps the type of a choice', () => {
    const model = modelOf({ properties: { level: { enum: [1, 2] } } })
    expect(answerFrom(model, { level: '2' })).toEqual({ ok: true, answer: { level: 2 } })
    expect(answerFrom(model, { level: '3' })).toMatchObject({ ok: false })
  })

  test('checks texts by characters and pattern, and leaves a pattern it cannot read to the server', () => {
    const model = modelOf({
      properties: {
        short: { type: 'string', maxLength: 2 },
        id: { type: 'string', pattern: '^[0-9]+$' },
        odd: { type: 'string', pattern: '(' },
      },
    })
    expect(answerFrom(model, { short: '🦀🦀', id: '12', odd: 'x' })).toMatchObject({ ok: true })
    expect(answerFrom(model, { short: 'abc', id: 'x' })).toEqual({
      ok: false,
      problems: { short: 'At most 2 characters.', id: 'This does not have the right form.' },
    })
  })

  test('reads free JSON', () => {
    const model = modelOf({ properties: { list: { type: 'array' } } })
    expect(answerFrom(model, { list: '[1]' })).toEqual({ ok: true, answer: { list: [1] } })
    expect(answerFrom(model, { list: '[1' })).toEqual({
      ok: false,
      problems: { list: 'This is not JSON.' },
    })
  })
})

test.each([
  ['order_id', 'Order id'],
  ['orderId', 'Order id'],
  ['refund_order', 'Refund order'],
  ['', ''],
])('%j is %j to a person', (name, human) => {
  expect(humanName(name)).toBe(human)
})
