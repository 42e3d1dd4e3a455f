import Type from 'typebox'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { WorkflowDefinition } from '@holdfast/core'
import { createCatalog, defineWorkflow } from '../src/index.ts'

const Input = Type.Object({ count: Type.Integer() }, { additionalProperties: false })
const Answer = Type.Object({ approved: Type.Boolean() }, { additionalProperties: false })

const minimal = (name: string, version = 'v1') =>
  defineWorkflow({ name, version, description: '', input: Input, run: () => undefined })

describe('a definition', () => {
  test('takes the types of input, answer and output from TypeBox schemas', () => {
    const definition = defineWorkflow({
      name: 'typed_flow',
      version: 'v1',
      description: 'Counts.',
      input: Input,
      resume: Answer,
      output: Type.Number(),
      async run(context, input) {
        expectTypeOf(input).toEqualTypeOf<{ count: number }>()
        const answer = await context.interrupt('ask')
        expectTypeOf(answer).toEqualTypeOf<{ approved: boolean }>()
        return answer.approved ? input.count : 0
      },
    })
    expectTypeOf(definition).toEqualTypeOf<
      WorkflowDefinition<{ count: number }, { approved: boolean }, number>
    >()
  })

  test('takes types from plain JSON Schema too', () => {
    defineWorkflow({
      name: 'plain_flow',
      version: 'v1',
      description: '',
      input: {
        type: 'object',
        properties: { count: { type: 'integer' } },
        required: ['count'],
        additionalProperties: false,
      },
      run: (_context, input) => {
        expectTypeOf(input.count).toEqualTypeOf<number>()
      },
    })
  })

  test.each(['ab', 'Upper_case', 'starts-dash', `a${'b'.repeat(64)}`, '9lives'])(
    'case 14: refuses the name %s',
    (name) => {
      expect(() => minimal(name)).toThrow(expect.objectContaining({ code: 'definition_invalid' }))
    },
  )

  test.each(['', 'V1', '1/2', ' v1', `v${'1'.repeat(64)}`])(
    'refuses the version %j: one grammar, at registration',
    (version) => {
      expect(() => minimal('some_flow', version)).toThrow(
        expect.objectContaining({ code: 'definition_invalid' }),
      )
    },
  )

  test('refuses a description over 1,024 bytes, counted in UTF-8', () => {
    const description = 'é'.repeat(513)
    expect(() =>
      defineWorkflow({
        name: 'abc',
        version: 'v1',
        description,
        input: Input,
        run: () => undefined,
      }),
    ).toThrow(expect.objectContaining({ code: 'definition_invalid' }))
  })
})

describe('a catalog', () => {
  test('case 14: refuses the same name and version twice, accepts a second version', () => {
    expect(() => createCatalog([minimal('abc'), minimal('abc')])).toThrow(
      expect.objectContaining({ code: 'definition_duplicate' }),
    )
    expect(createCatalog([minimal('abc'), minimal('abc', 'v2')]).list()).toHaveLength(2)
  })

  test('case 16: lists by name then version in byte order, and refuses the unknown with a code', () => {
    const catalog = createCatalog([minimal('bcd'), minimal('abc', 'v2'), minimal('abc', 'v10')])
    expect(catalog.list().map((entry) => `${entry.name}@${entry.version}`)).toEqual([
      'abc@v10',
      'abc@v2',
      'bcd@v1',
    ])
    expect(() => catalog.resolve('abc', 'latest')).toThrow(
      expect.objectContaining({ code: 'definition_unknown' }),
    )
  })

  test('case 17: what callers do to a schema later has no effect', () => {
    const input = {
      type: 'object',
      additionalProperties: false,
      properties: { a: { type: 'string' } },
    }
    const catalog = createCatalog([
      defineWorkflow({ name: 'abc', version: 'v1', description: '', input, run: () => undefined }),
    ])
    input.properties.a.type = 'number'
    expect(catalog.resolve('abc', 'v1').checkInput({ a: 'text' }).ok).toBe(true)
    expect(Object.isFrozen(catalog.resolve('abc', 'v1').inputSchema)).toBe(true)
  })

  test('case 15: refuses an open input schema', () => {
    expect(() =>
      createCatalog([
        defineWorkflow({
          name: 'abc',
          version: 'v1',
          description: '',
          input: { type: 'object' },
          run: () => undefined,
        }),
      ]),
    ).toThrow(expect.objectContaining({ code: 'schema_invalid' }))
  })

  test('case 22: an answer without a resume schema is refused with a code', () => {
    const registered = createCatalog([minimal('abc')]).resolve('abc', 'v1')
    expect(() => registered.checkResume({})).toThrow(
      expect.objectContaining({ code: 'resume_unsupported' }),
    )
  })

  test('a digest follows schemas and revision, never code', () => {
    const of = (extra: { readonly revision?: string; readonly run?: () => undefined }) =>
      createCatalog([
        defineWorkflow({
          name: 'abc',
          version: 'v1',
          description: '',
          input: Input,
          run: () => undefined,
          ...extra,
        }),
      ]).resolve('abc', 'v1').digest
    expect(of({})).toBe(of({ run: () => undefined }))
    expect(of({})).not.toBe(of({ revision: '2' }))
  })
})

describe('what is registered', () => {
  test('case 24: is a copy: what its author changes later, or a reader tries to, has no effect', () => {
    const author = {
      name: 'copied_flow',
      version: 'v1',
      description: 'As it was.',
      input: { type: 'object', additionalProperties: false, properties: {} },
      run: () => undefined,
    }
    const catalog = createCatalog([defineWorkflow(author)])
    author.description = 'As it is.'
    Object.assign(author.input.properties, { late: { type: 'string' } })
    const [registered] = catalog.list()
    expect(registered).toMatchObject({
      description: 'As it was.',
      inputSchema: { properties: {} },
    })
    expect(registered?.inputSchema['properties']).toEqual({})
    expect(() => Object.assign(registered ?? {}, { description: 'mine' })).toThrow(TypeError)
    expect(() => Object.assign(registered?.inputSchema ?? {}, { type: 'array' })).toThrow(TypeError)
    expect(catalog.find('copied_flow', 'v1')).toBe(registered)
  })
})
