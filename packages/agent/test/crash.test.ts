import { describe, expect, test } from 'vitest'
import type { JsonValue } from '@holdfast/core'
import { FakeRun } from './support/fake-run.ts'
import type { Outcome } from './support/fake-run.ts'
import { orderAgent, orderWorkflow } from './support/order-agent.ts'
import type { Effects } from './support/order-agent.ts'
import { chunkTypes, rendered } from './support/rendered.ts'

const input = { prompt: 'Cancel order 1001' }
const approving = async (): Promise<JsonValue> => ({ approved: true, reason: 'fine' })
const denying = async (): Promise<JsonValue> => ({ approved: false, reason: 'keep it' })

/** Runs to the end, dying at the given commit and then at every later one of a list. */
async function runCutAt(
  cuts: readonly number[],
  answer: () => Promise<JsonValue>,
): Promise<{ run: FakeRun; outcome: Outcome; effects: Effects; chunks: readonly JsonValue[] }> {
  const effects: Effects = new Map()
  const run = new FakeRun({ answer })
  for (const cut of [...cuts, Number.POSITIVE_INFINITY]) {
    // A new process has nothing of the old one but the store.
    const definition = orderWorkflow(() => orderAgent(effects))
    const outcome = await run.execute(definition, input, cut)
    if (outcome.kind === 'crashed') continue
    return { run, outcome, effects, chunks: run.stream(definition, outcome) }
  }
  throw new Error('The run did not end.')
}

describe('a durable run that is cut', () => {
  test('gives a page the whole message when it is not cut', async () => {
    const { outcome, chunks, effects } = await runCutAt([], approving)
    expect(outcome.kind).toBe('completed')
    expect(chunkTypes(chunks)).toMatchInlineSnapshot(`
      [
        "start",
        "start-step",
        "text-start",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-end",
        "tool-input-available",
        "tool-input-available",
        "tool-output-available",
        "tool-output-available",
        "finish-step",
        "start-step",
        "text-start",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-end",
        "tool-input-available",
        "tool-input-available",
        "tool-approval-request",
        "tool-output-available",
        "tool-approval-response",
        "tool-output-available",
        "finish-step",
        "start-step",
        "text-start",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-delta",
        "text-end",
        "finish-step",
        "finish",
      ]
    `)
    expect([...effects.values()]).toEqual([1])
    expect(await rendered(chunks)).toMatchInlineSnapshot(`
      {
        "id": "01890000-0000-7000-8000-000000000001",
        "metadata": undefined,
        "parts": [
          {
            "type": "step-start",
          },
          {
            "providerMetadata": undefined,
            "state": "done",
            "text": "I look them up. ",
            "type": "text",
          },
          {
            "errorText": undefined,
            "input": {
              "id": 1001,
            },
            "output": {
              "id": 1001,
              "total": 100.1,
            },
            "preliminary": undefined,
            "providerExecuted": undefined,
            "rawInput": undefined,
            "state": "output-available",
            "title": undefined,
            "toolCallId": "call-1",
            "type": "tool-lookup",
          },
          {
            "errorText": undefined,
            "input": {
              "id": 1002,
            },
            "output": {
              "id": 1002,
              "total": 100.2,
            },
            "preliminary": undefined,
            "providerExecuted": undefined,
            "rawInput": undefined,
            "state": "output-available",
            "title": undefined,
            "toolCallId": "call-2",
            "type": "tool-lookup",
          },
          {
            "type": "step-start",
          },
          {
            "providerMetadata": undefined,
            "state": "done",
            "text": "Now I cancel. ",
            "type": "text",
          },
          {
            "approval": {
              "approved": true,
              "id": "interrupt:interrupt:approve 2.1",
              "reason": "fine",
            },
            "errorText": undefined,
            "input": {
              "id": 1001,
            },
            "output": "cancelled 1001",
            "preliminary": undefined,
            "providerExecuted": undefined,
            "rawInput": undefined,
            "state": "output-available",
            "title": undefined,
            "toolCallId": "call-3",
            "type": "tool-cancel",
          },
          {
            "errorText": undefined,
            "input": {
              "id": 1003,
            },
            "output": {
              "id": 1003,
              "total": 100.3,
            },
            "preliminary": undefined,
            "providerExecuted": undefined,
            "rawInput": undefined,
            "state": "output-available",
            "title": undefined,
            "toolCallId": "call-4",
            "type": "tool-lookup",
          },
          {
            "type": "step-start",
          },
          {
            "providerMetadata": undefined,
            "state": "done",
            "text": "All is done as you asked.",
            "type": "text",
          },
        ],
        "role": "assistant",
      }
    `)
  })

  test(
    'renders the same at every commit where it is cut, approved or denied',
    { timeout: 60_000 },
    async () => {
      for (const answer of [approving, denying]) {
        const whole = await runCutAt([], answer)
        const message = await rendered(whole.chunks)
        expect(whole.run.commits).toBeGreaterThan(10)
        for (let cut = 1; cut <= whole.run.commits; cut += 1) {
          const cutRun = await runCutAt([cut, cut + 1], answer)
          expect(cutRun.outcome, `cut at ${cut}`).toEqual(whole.outcome)
          expect(await rendered(cutRun.chunks), `cut at ${cut}`).toEqual(message)
          expect(cutRun.effects.size).toBe(answer === approving ? 1 : 0)
        }
      }
    },
  )
})
