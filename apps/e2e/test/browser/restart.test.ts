import { expect, test } from 'vitest'
import { describeDesk, pictureOf } from './support/desk.ts'
import { countTo } from './support/tab.ts'

describeDesk({ title: 'a server that is killed under the page' }, (desk) => {
  test('goes on with the answer, and nothing is doubled or lost', async () => {
    const { server } = desk()
    const tab = await desk().visit({ serverGoesAway: true })
    // Gone after a reload.
    await tab.page.evaluate(() => document.body.setAttribute('data-since', 'the beginning'))
    await tab.say('count to 60')
    await tab.answerWith(countTo(5))
    await server.kill()
    await tab.says(tab.connection, 'reconnecting…')
    const partial = await tab.answerWith(countTo(5))
    expect(countTo(59)).toContain(partial)
    await tab.page.screenshot({ path: pictureOf('reconnecting') })

    server.launch()
    expect(await server.answers()).toBe(true)
    await tab.says(tab.connection, 'live')
    const conversation = ['you: count to 60', `assistant: ${countTo(60)}`]
    await tab.hasConversation(conversation)
    expect(await tab.page.locator('body').getAttribute('data-since')).toBe('the beginning')
    await tab.page.reload()
    await tab.hasConversation(conversation)
  })

  test('still asks what it asked before, and takes the answer', async () => {
    const { server } = desk()
    const tab = await desk().visit({ serverGoesAway: true })
    await tab.say('refund order 1002')
    const run = tab.run('refund_order')
    await run.getByRole('button', { name: 'Approve' }).waitFor()
    await tab.isIdle()
    await server.kill()
    await tab.says(tab.connection, 'reconnecting…')
    server.launch()
    expect(await server.answers()).toBe(true)
    await tab.says(tab.connection, 'live')
    await run.getByRole('button', { name: 'Approve' }).click()
    await tab.says(run.getByRole('status', { name: 'run status' }), 'completed')
  })
})
