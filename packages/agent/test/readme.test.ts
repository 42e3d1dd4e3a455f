import { expect, test } from 'vitest'
import type { ConversationReader } from '@holdfast/core'
import { runOnEngine } from './support/engine-world.ts'
import { durableOrderDesk } from './readme.examples.ts'
import { finish, scriptedModel, text, toolCall } from './support/scripted-model.ts'

test('the example of the README answers a message of a chat from its tool, durably', async () => {
  const model = scriptedModel(
    [toolCall('look_up', { id: 7 }), finish('tool-calls')],
    [...text('It was shipped.'), finish()],
  )
  const conversation: ConversationReader = {
    turns: async (_sessionId, { messageId }) => [
      {
        messageId,
        message: { role: 'user', parts: [{ type: 'text', text: 'Where is order 7?' }] },
        runId: '01890000-0000-7000-8000-000000000001',
        status: 'running',
      },
    ],
  }
  const { output } = await runOnEngine({
    definition: () => durableOrderDesk(model, conversation),
    input: { chatId: 'chat-1', messageId: 'message-1' },
  })
  expect(output).toMatchObject({ text: 'It was shipped.', steps: 2 })
  const prompt = JSON.stringify(model.doStreamCalls[1]?.prompt)
  expect(prompt).toContain('Where is order 7?')
  expect(prompt).toContain('shipped')
})
