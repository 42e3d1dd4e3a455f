import {
  lastRequestOf,
  type OpenAiServer,
  resultsOf,
  startOpenAiServer,
} from '@holdfast/example/openai-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeDesk } from './support/desk.ts'

let model: OpenAiServer

beforeAll(async () => {
  model = await startOpenAiServer((conversation) => {
    const request = lastRequestOf(conversation)
    const results = resultsOf(conversation)
    if (results.length > 0) {
      return { kind: 'answer', text: `The tool said ${results.join(' and ')}` }
    }
    const order = /cancel (\d+)/.exec(request)?.[1]
    if (order === undefined) return { kind: 'answer', text: `You wrote “${request}”, in **bold**.` }
    const call = { id: 'call-1', name: 'cancel_order', input: { order_id: order } }
    return { kind: 'answer', text: 'One moment. ', calls: [call] }
  })
})

afterAll(async () => {
  await model.close()
})

describeDesk(
  {
    title: 'a model behind an OpenAI-compatible server',
    environment: () => ({
      OPENAI_BASE_URL: model.baseUrl,
      OPENAI_API_KEY: model.apiKey,
      HOLDFAST_MODEL: 'tide-1',
    }),
  },
  (desk) => {
    test('answers in the page, which names it', async () => {
      const tab = await desk().visit()
      await tab.page.getByText('tide-1').waitFor()
      await tab.say('good morning')
      await tab.hasConversation([
        'you: good morning',
        'assistant: You wrote “good morning”, in bold.',
      ])
      expect(await tab.log.getByText('bold', { exact: true }).innerText()).toBe('bold')
    })

    test('calls a tool once a person has approved', async () => {
      const tab = await desk().visit()
      await tab.say('cancel 1003')
      await tab.log.getByRole('button', { name: 'Approve' }).click()
      await tab.hasConversation([
        'you: cancel 1003',
        /^assistant: One moment\. Cancelled order 1003 approved by you The tool said .*cancelled/,
      ])
      expect(model.complaints).toEqual([])
    })
  },
)
