import { expect, test } from 'vitest'
import { describeDesk, pictureOf } from './support/desk.ts'
import { countTo } from './support/tab.ts'

describeDesk({ title: 'a chat in the browser' }, (desk) => {
  test('shows an answer while it is written, and the whole of it in the end', async () => {
    const tab = await desk().visit()
    await tab.says(tab.connection, 'live')
    await tab.say('count to 60')
    await tab.stopButton.waitFor()
    const partial = await tab.answerWith('1 2 3')
    expect(countTo(59)).toContain(partial)
    await tab.hasConversation(['you: count to 60', `assistant: ${countTo(60)}`])
    await tab
      .panel('chats')
      .getByRole('link', { name: /^count to 60/ })
      .waitFor()
  })

  test('keeps what was written of an answer that is stopped, also after a reload', async () => {
    const tab = await desk().visit()
    await tab.say('count to 300')
    await tab.answerWith(countTo(5))
    await tab.stopButton.click()
    await tab.isIdle()
    const stopped = await tab.answerWith('Stopped. What was written is kept.')
    const written = stopped.slice(0, stopped.indexOf(' Stopped.'))
    expect(countTo(299).startsWith(`${written} `)).toBe(true)
    const conversation = ['you: count to 300', `assistant: ${stopped}`]
    await tab.hasConversation(conversation)
    await tab.page.reload()
    await tab.hasConversation(conversation)
  })

  test('goes on with an answer after a reload in the middle of it', async () => {
    const tab = await desk().visit()
    await tab.say('count to 60')
    expect(countTo(59)).toContain(await tab.answerWith(countTo(5)))
    await tab.page.reload()
    const conversation = ['you: count to 60', `assistant: ${countTo(60)}`]
    await tab.hasConversation(conversation)
    await tab.page.reload()
    await tab.hasConversation(conversation)
  })

  test('takes up what a person adds while an answer runs', async () => {
    const tab = await desk().visit()
    await tab.say('count to 120')
    await tab.answerWith(countTo(5))
    await tab.say('look up order 1001')
    await tab.log.getByText('The answer takes it up at its next step.').waitFor()
    await tab.page.screenshot({ path: pictureOf('steering') })
    const conversation = [
      'you: count to 120',
      `assistant: ${countTo(120)}`,
      'you: look up order 1001',
      /^assistant: Let me look that up\. Looked up order 1001 Order 1001: Tide clock, 40 EUR, open\.$/,
    ]
    await tab.hasConversation(conversation)
    await tab.page.reload()
    await tab.hasConversation(conversation)
  })

  test('is nothing to another browser', async () => {
    const mine = await desk().visit()
    await mine.say('refund order 1002')
    await mine.run('refund_order').getByRole('button', { name: 'Approve' }).waitFor()
    await mine.isIdle()

    const theirs = await desk().visit()
    await theirs.panel('chats').getByText('Your chats will be listed here.').waitFor()
    await theirs.panel('runs').getByText('Work that takes a while').waitFor()
    expect(await theirs.panel('runs').getByRole('article').count()).toBe(0)
    await theirs.page.goto(mine.page.url())
    await theirs.page.getByRole('heading', { name: 'There is no such chat here' }).waitFor()
    expect(await theirs.page.getByText('1002').count()).toBe(0)
    // That the server refused is in the console of a browser, and is all that may be.
    const refusals = theirs.problems.splice(0)
    expect(refusals.filter((line) => !line.includes('status of 404'))).toEqual([])
  })
})
