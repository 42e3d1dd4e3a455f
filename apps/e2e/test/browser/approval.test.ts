import { expect, test } from 'vitest'
import { describeDesk, pictureOf } from './support/desk.ts'

describeDesk({ title: 'a decision in the browser' }, (desk) => {
  test('runs a tool that a person approves', async () => {
    const tab = await desk().visit()
    await tab.say('cancel order 1003')
    const card = tab.log.getByRole('region', { name: 'May I cancel order 1003?' })
    await card.getByRole('button', { name: 'Approve' }).waitFor()
    await tab.isIdle()
    await tab.page.screenshot({ path: pictureOf('approval') })
    await card.getByRole('button', { name: 'Approve' }).click()
    const conversation = [
      'you: cancel order 1003',
      'assistant: I will cancel order 1003, if you approve. Cancelled order 1003 approved by you Order 1003: cancelled.',
    ]
    await tab.hasConversation(conversation)
    await tab.page.reload()
    await tab.hasConversation(conversation)
  })

  test('does not run a tool that a person denies, and says why', async () => {
    const tab = await desk().visit()
    await tab.say('cancel order 1001')
    await tab.log.getByRole('textbox', { name: /^Reason/ }).fill('still needed')
    await tab.log.getByRole('button', { name: 'Deny' }).click()
    await tab.hasConversation([
      'you: cancel order 1001',
      /Was not allowed to cancel order 1001 .*still needed/,
    ])
    await tab.say('look up order 1001')
    await tab.answerWith('Order 1001: Tide clock, 40 EUR, open.')
  })

  test('gives the answer to the question of a workflow', async () => {
    const tab = await desk().visit()
    await tab.say('refund order 1002')
    const run = tab.run('refund_order')
    const status = run.getByRole('status', { name: 'run status' })
    const question = run.getByRole('form', { name: 'Refund 240 EUR for order 1002' })
    await question.getByRole('textbox', { name: /^Note/ }).fill('it came damp')
    await tab.says(status, 'waits for you')
    await tab.isIdle()
    await tab.page.screenshot({ path: pictureOf('question') })
    await question.getByRole('button', { name: 'Approve' }).click()
    await tab.says(status, 'completed')
    expect(await question.count()).toBe(0)
    await tab.say('look up order 1002')
    await tab.answerWith('Order 1002: Sea chart, framed, 240 EUR, refunded.')
  })

  test('is made with the keyboard alone, and every control has a name', async () => {
    const tab = await desk().visit()
    const { keyboard } = tab.page
    const pressUntilFocused = async (key: string, button: string): Promise<void> => {
      for (let presses = 1; presses <= 40; presses += 1) {
        await keyboard.press(key)
        const focused = tab.page.locator('button:focus')
        if ((await focused.count()) > 0 && (await focused.innerText()).trim() === button) return
      }
      throw new Error(`${button} is not reached with ${key}`)
    }
    await tab.composer.waitFor()
    expect(await tab.namelessControls()).toEqual([])
    // The page opens with the focus where a person writes.
    await tab.page.locator('textarea:focus').waitFor()
    await keyboard.type('count from 1')
    await keyboard.press('Enter')
    await tab.run('counter_flow').getByRole('form').waitFor()
    await tab.isIdle()
    expect(await tab.namelessControls()).toEqual([])

    await keyboard.type('cancel order 1001')
    await keyboard.press('Enter')
    await tab.log.getByRole('region', { name: 'May I cancel order 1001?' }).waitFor()
    await tab.isIdle()
    expect(await tab.namelessControls()).toEqual([])
    await pressUntilFocused('Tab', 'Approve')
    await keyboard.press('Enter')
    await tab.answerWith('Order 1001: cancelled.')
    await tab.isIdle()
    expect(await tab.namelessControls()).toEqual([])
  })
})
