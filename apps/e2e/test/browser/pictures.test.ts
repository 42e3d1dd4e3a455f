// Pictures of the page, in light, dark and narrow, for people to look at: none is compared.
import { expect, test } from 'vitest'
import { describeDesk, pictureOf } from './support/desk.ts'

const longEnoughToBeSeen = '60000'

describeDesk(
  {
    title: 'the order desk at work',
    environment: () => ({
      HOLDFAST_DEMO_DELAY_MS: '0',
      HOLDFAST_REPORT_PAUSE_MS: longEnoughToBeSeen,
    }),
  },
  (desk) => {
    test.each([
      { name: 'order-desk', width: 1280, height: 800, colorScheme: 'light' },
      { name: 'dark', width: 1280, height: 800, colorScheme: 'dark' },
      { name: 'narrow', width: 390, height: 844, colorScheme: 'light' },
    ] as const)(
      'fits a page of $width × $height, $colorScheme',
      async ({ name, width, height, colorScheme }) => {
        const tab = await desk().visit({ width, height, colorScheme })
        await tab.say('write a report on kelp')
        await tab.answerWith('It shows its progress beside this chat.')
        await tab.isIdle()
        await tab.say('refund order 1002')
        await tab.answerWith("waits for a person's yes")
        await tab.isIdle()
        if (width < 1000) {
          // The panel is a drawer here, and its button says once the question is there.
          const opener = tab.page.getByRole('button', { name: 'Runs, 1 waiting for you' })
          await opener.waitFor()
          await tab.page.screenshot({ path: pictureOf(`${name}-chat`) })
          await opener.click()
        }
        await tab.run('refund_order').getByRole('button', { name: 'Approve' }).waitFor()
        await tab.run('research_report').getByText('1 of 8').waitFor()
        await tab.page.screenshot({ path: pictureOf(name), animations: 'disabled' })
        const overflow = await tab.page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        )
        expect(overflow).toBe(0)
      },
    )
  },
)
