// A run that waits for a person outlives its process: store and engine are closed and opened anew.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '@holdfast/engine'
import { openSqliteStore } from '@holdfast/store-sqlite'
import { defineWorkflow } from '@holdfast/workflow'
import Type from 'typebox'

const folder = mkdtempSync(join(tmpdir(), 'sqlite-reopened-'))
const path = join(folder, 'runs.db')
const sessionId = '00000000-0000-4000-8000-000000000001'
const bodies: string[] = []

const refund = defineWorkflow({
  name: 'refund',
  version: 'v1',
  description: 'Refunds an order once a person has agreed.',
  input: Type.Object({ order: Type.String() }, { additionalProperties: false }),
  resume: Type.Object({ approved: Type.Boolean() }, { additionalProperties: false }),
  async run(context, { order }) {
    const total = await context.step('load', () => bodies.push(`load ${order}`) && 240)
    const { approved } = await context.interrupt('approve')
    if (approved) await context.step('pay', () => void bodies.push(`pay ${total}`))
    return { paid: approved }
  },
})

const first = await openSqliteStore({ path })
const before = createEngine({ store: first, definitions: [refund] })
const run = await before.session(sessionId).start(refund, { order: '1002' })
for await (const { record } of run.watch()) if (record.status === 'interrupted') break
await before.close()
await first.close()
assert.deepEqual(bodies, ['load 1002'])

const second = await openSqliteStore({ path })
const after = createEngine({ store: second, definitions: [refund] })
const same = after.session(sessionId).run(run.id)
await same.resume({ approved: true })
assert.deepEqual(await same.result(), { paid: true })
assert.deepEqual(bodies, ['load 1002', 'pay 240'])
await after.close()
await second.close()
rmSync(folder, { recursive: true })
