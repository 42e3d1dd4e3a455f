import { expect, test } from 'vitest'
import { createCatalog } from '@holdfast/workflow'
import { allDefinitions } from './support/definitions.ts'
import { toolsOf } from './readme.examples.ts'
import { createSession } from './support/session.ts'

test('the example of the README starts a run', async () => {
  const { store, supervisor } = createSession()
  const { text, toolSet } = await toolsOf(createCatalog(allDefinitions), store, supervisor)
  expect(JSON.parse(text)).toMatchObject({ definition_name: 'counter_flow', run_status: 'pending' })
  expect(Object.keys(toolSet)).toHaveLength(7)
})
