// docs/reference/workflow-agent.md: every row names a test that is there.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const here = new URL('.', import.meta.url)
const sources = readdirSync(here)
  .filter((name) => name.endsWith('.test.ts') && name !== 'reference.test.ts')
  .map((name) => readFileSync(new URL(name, here), 'utf8'))
  .join('\n')
const page = new URL('../../../docs/reference/workflow-agent.md', here)
const rows = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').map((cell) => cell.trim()))

test('the reference has rows', () => {
  expect(rows.length).toBeGreaterThan(40)
})

test.each(rows)('|%s| %s is %s, at the peer %s, held by: %s', (...cells) => {
  const [, theirs, ours, peer, held] = cells
  expect([theirs, ours, peer]).not.toContain('')
  const quoted = [`'${held}'`, `"${held}"`]
  expect(quoted.some((title) => sources.includes(`test(${title}`))).toBe(true)
})
