// The seed's direct invocation, as an adapter's test would do it.
import { expect, test } from 'vitest'
import { createSession } from './support/session.ts'

test('the tool at index 1 starts a run from JSON text and answers with JSON text', async () => {
  const bundle = createSession().tools
  const start = bundle[1]
  const result = await start.invoke(`{
  "definition_name":"counter_flow",
  "definition_version":"v1",
  "input":{"count":1}
}`)
  expect(start.info().name).toBe('workflow_run_start')
  expect(result.content).toHaveLength(1)
  expect(result.content[0].type).toBe('text')
  expect(JSON.parse(result.content[0].text)).toMatchObject({
    definition_name: 'counter_flow',
    definition_version: 'v1',
  })
})
