// Whatever a model sends: a bounded, valid result or a typed error, and the session unharmed.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { ErrorCode, isHoldfastError } from '@holdfast/core'
import { utf8Length } from '@holdfast/json'
import { modelErrorBytes, modelErrorText, workflowToolNames } from '../src/index.ts'
import type { WorkflowToolName } from '../src/index.ts'
import { asking, question } from './support/questions.ts'
import { checkedResult, createSession } from './support/session.ts'
import type { Session } from './support/session.ts'

const codes: ReadonlySet<string> = new Set(Object.values(ErrorCode))

/** Calls a tool with any text and demands one of the two honest ends. */
async function survives(session: Session, name: WorkflowToolName, text: string): Promise<void> {
  try {
    const result = await session.tool(name).invoke(text)
    expect(Object.keys(result)).toEqual(['content'])
    checkedResult(session.tool(name), result.content[0].text)
  } catch (error) {
    if (!isHoldfastError(error)) throw error
    expect(codes).toContain(error.code)
    expect(error.code).not.toBe('internal')
    expect(utf8Length(modelErrorText(error))).toBeLessThanOrEqual(modelErrorBytes)
    expect(utf8Length(JSON.stringify(error.details))).toBeLessThanOrEqual(16_384)
  }
}

const sessions = [{ extensions: false }, { extensions: true }]
const knownNames = [
  'run_id',
  'resume',
  'reason',
  'limit',
  'after',
  'after_revision',
  'after_event_id',
  'definition_name',
  'definition_version',
  'input',
  'parent_run_id',
  'interrupt_id',
  'idempotency_key',
  'run_status',
  'order',
]
const strangeText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\ud800', '\udfff\ud800', '__proto__', 'constructor', '\u0000', '\u2028', ''),
)
const strangeNumber = fc.oneof(
  fc.double(),
  fc.constantFrom(2 ** 53, -(2 ** 53), 1e308, 5e-324, -0, 0, 1, 100, 101),
)

describe.each(sessions)('any arguments, %o', (options) => {
  let session: Session
  let runId: string
  beforeEach(async () => {
    session = createSession(options)
    runId = await asking(session, question('q1'))
  })

  const tool = fc.constantFrom(...workflowToolNames)

  test('any text', async () => {
    await fc.assert(
      fc.asyncProperty(tool, strangeText, (name, text) => survives(session, name, text)),
      { numRuns: 300 },
    )
  })

  test('any JSON', async () => {
    await fc.assert(
      fc.asyncProperty(tool, fc.jsonValue({ maxDepth: 6 }), (name, value) =>
        survives(session, name, JSON.stringify(value)),
      ),
      { numRuns: 300 },
    )
  })

  test('objects of known and strange names with any values', async () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      strangeText,
      strangeNumber,
      fc.constantFrom('counter_flow', 'letters_flow', 'v1', null, {}, { count: 1 }, { any: {} }),
      fc.constant('the run').map(() => runId),
    )
    const name = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...knownNames) }, strangeText)
    const entries = fc.array(fc.tuple(name, value), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(tool, entries, (toolName, given) => {
        const members = given.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`)
        return survives(session, toolName, `{${members.join(',')}}`)
      }),
      { numRuns: 600 },
    )
  })

  test('inputs of any JSON are stored as they were sent, or refused', async () => {
    const any = fc.oneof(fc.jsonValue({ maxDepth: 8 }), strangeText, strangeNumber)
    await fc.assert(
      fc.asyncProperty(any, async (value) => {
        const sent = JSON.stringify({ any: value })
        const given = `{"definition_name":"letters_flow","definition_version":"v1","input":${sent}}`
        let text: string
        try {
          text = (await session.tool('workflow_run_start').invoke(given)).content[0].text
        } catch (error) {
          if (!isHoldfastError(error)) throw error
          expect(error.code).toBe('json_unicode_invalid')
          expect(sent).toMatch(/\\ud[89a-f]/i)
          return
        }
        const { run_id } = JSON.parse(text) as { readonly run_id: string }
        const run = await session.store.run(session.sessionId, run_id)
        const stored = await session.store.input(session.sessionId, run?.record.input.digest ?? '')
        expect(JSON.parse(new TextDecoder().decode(stored))).toEqual(JSON.parse(sent))
      }),
      { numRuns: 200 },
    )
  })

  test('the worst texts for every tool', async () => {
    const worst = [
      '['.repeat(262_144),
      '{"a":'.repeat(52_428),
      `${'['.repeat(131_072)}${']'.repeat(131_072)}`,
      `{"run_id":"${'x'.repeat(262_144)}"}`,
      `{"${'n'.repeat(8_000)}":1}`,
      `{"input":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
      `{"limit":9007199254740993}`,
      `{"limit":1e400}`,
      `{"limit":1,"limit":2}`,
      `{"__proto__":{"run_id":"${runId}"}}`,
      `{"run_id":"${runId}","__proto__":{}}`,
      `{"definition_name":"letters_flow","definition_version":"v1","input":{"any":{"__proto__":{"polluted":true}}}}`,
      `{"definition_name":"letters_flow","definition_version":"v1","input":{"any":1,"any":2}}`,
      `{"definition_name":"letters_flow","definition_version":"v1","input":{"any":9007199254740993}}`,
      `{"definition_name":"${'\\u0001'.repeat(1_300)}","definition_version":"v1","input":{}}`,
      '\uFEFF{}',
      '{}x',
      ' '.repeat(300_000),
    ]
    for (const name of workflowToolNames) {
      for (const text of worst) await survives(session, name, text)
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect(await session.call('workflow_run_list', {})).toHaveProperty('runs')
  })

  test('an argument text of another type is refused', async () => {
    for (const name of workflowToolNames) {
      for (const given of [undefined, null, 7, {}, new Uint8Array(2)]) {
        await expect(session.tool(name).invoke(given as never)).rejects.toMatchObject({
          code: 'arguments_invalid',
        })
      }
    }
  })
})
