import type { AnyWorkflowDefinition } from '@holdfast/core'
import { defineWorkflow } from '@holdfast/workflow'

const closed = { type: 'object', additionalProperties: false } as const

/** The definition of the seed's example. */
export const counterFlow = defineWorkflow({
  name: 'counter_flow',
  version: 'v1',
  description: 'Counts.',
  input: { ...closed, properties: { count: { type: 'integer' } }, required: ['count'] },
  run: () => null,
})

export const openFlow = defineWorkflow({
  name: 'letters_flow',
  version: 'v1',
  description: 'Takes letters and any value.',
  input: { ...closed, properties: { a: { type: 'integer' }, z: { type: 'integer' }, any: true } },
  resume: {
    ...closed,
    properties: { approved: { type: 'boolean' } },
    required: ['approved'],
  },
  output: true as unknown as object,
  outputForModels: true,
  run: () => null,
})

export const targetedFlow = defineWorkflow({
  name: 'targeted_flow',
  version: 'v1',
  description: 'Says in its answers which question they are for.',
  input: closed,
  resume: {
    ...closed,
    properties: { interrupt_id: { type: 'string' }, approved: { type: 'boolean' } },
    required: ['interrupt_id', 'approved'],
  },
  run: () => null,
})

export const chatAgent = defineWorkflow({
  name: 'chat_agent',
  version: 'v1',
  description: 'An agent.',
  kind: 'agent',
  input: closed,
  run: () => null,
})

export const codingHarness = defineWorkflow({
  name: 'coding_harness',
  version: 'v1',
  description: 'A harness.',
  kind: 'harness',
  input: closed,
  run: () => null,
})

export const allDefinitions: readonly AnyWorkflowDefinition[] = [
  counterFlow,
  openFlow,
  targetedFlow,
  chatAgent,
  codingHarness,
]
