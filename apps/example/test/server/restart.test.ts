import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { OrderBook } from '../../server/orders.ts'
import { openBrowser, runOf, says, textOf } from './browser.ts'
import { endAll, startDesk } from './desk-process.ts'

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-restart-'))
})
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const counted = Array.from({ length: 200 }, (_, index) => index + 1).join(' ')

/** Begins an answer that takes long, and resolves once words of it have come. */
async function beginAnswer(browser: ReturnType<typeof openBrowser>, chatId: string): Promise<void> {
  const response = await browser.post('/api/chat', {
    id: chatId,
    trigger: 'submit-message',
    messages: [says('count to 200')],
  })
  let text = ''
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString('utf8')
    if (text.includes('text-delta')) return
  }
  throw new Error(`the answer ended: ${text}`)
}

/** Waits until the chat's answer is whole; resolves with its text. */
async function answerOf(browser: ReturnType<typeof openBrowser>, chatId: string): Promise<string> {
  return await vi.waitFor(
    async () => {
      const chat = (await browser.json(`/api/chat/${chatId}/messages`)) as {
        readonly status: string
        readonly messages: readonly Parameters<typeof textOf>[0][]
      }
      if (chat.status !== 'completed') throw new Error(`the answer is ${chat.status}`)
      return chat.messages
        .filter(({ role }) => role === 'assistant')
        .map(textOf)
        .join('|')
    },
    { interval: 100, timeout: 60_000 },
  )
}

describe('after kill -9 in mid-answer', () => {
  test('the next start answers at once, knows the browser, and the answer goes on', async () => {
    const databasePath = join(folder, 'killed', 'desk.db')
    const environment = { HOLDFAST_DB: databasePath, HOLDFAST_DEMO_DELAY_MS: '15' }
    const first = startDesk(environment)
    const before = openBrowser(await first.ready)
    await before.say('refund', says('refund order 1002'))
    await runOf(before, 'refund_order', 'interrupted')
    await beginAnswer(before, 'counting')
    first.kill('SIGKILL')
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL' })

    const second = startDesk({ ...environment, HOLDFAST_DEMO_DELAY_MS: '0' })
    const guard = AbortSignal.timeout(10_000)
    const after = openBrowser(await second.ready, before.cookie())
    expect((await after.fetch('/api/chat', { signal: guard })).status).toBe(200)
    expect(await answerOf(after, 'counting')).toBe(counted)

    const runId = await runOf(after, 'refund_order', 'interrupted')
    await after.post(`/api/runs/${runId}/resume`, { resume: { approved: true } })
    await runOf(after, 'refund_order', 'completed')
    second.kill('SIGTERM')
    expect(await second.ended).toMatchObject({ code: 0, stderr: '' })
    const books = new OrderBook(databasePath.replace('.db', '.orders.db'))
    expect(books.effects()).toMatchObject([{ kind: 'refund', orderId: '1002', amount: 240 }])
    books.close()
  })
})

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('ends the desk with 0 in mid-answer, cleanly, and the answer goes on at the next start', async () => {
    const databasePath = join(folder, signal, 'desk.db')
    const environment = { HOLDFAST_DB: databasePath, HOLDFAST_DEMO_DELAY_MS: '15' }
    const first = startDesk(environment)
    const before = openBrowser(await first.ready)
    await beginAnswer(before, 'counting')
    first.kill(signal)
    const end = await first.ended
    expect(end).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(end.stdout).toMatch(
      new RegExp(
        `^Order desk: http://127\\.0\\.0\\.1:\\d+ \\(model: offline demo\\)\nStopping \\(${signal}\\)\\.\n$`,
      ),
    )
    // Nothing is left in a log beside the databases.
    const logs = readdirSync(join(databasePath, '..')).filter((name) => name.endsWith('-wal'))
    expect(logs).toStrictEqual([])
    expect(existsSync(databasePath) && statSync(databasePath).size).toBeGreaterThan(0)

    const second = startDesk({ ...environment, HOLDFAST_DEMO_DELAY_MS: '0' })
    const after = openBrowser(await second.ready, before.cookie())
    expect(await answerOf(after, 'counting')).toBe(counted)
  })

  test('twice still ends it', async () => {
    const desk = startDesk({ HOLDFAST_DB: join(folder, `${signal}-twice`, 'desk.db') })
    await desk.ready
    desk.kill(signal)
    desk.kill(signal)
    const { code, signal: endedBy } = await desk.ended
    expect(code ?? endedBy).toSatisfy((how) => how === 0 || how === signal)
  })
})

describe('a cookie', () => {
  test('is good for another desk with the same HOLDFAST_SECRET, and for no other', async () => {
    const start = (name: string, secret: string) =>
      startDesk({ HOLDFAST_DB: join(folder, name, 'desk.db'), HOLDFAST_SECRET: secret })
    const [one, same, other] = [start('one', 'a'), start('same', 'a'), start('other', 'b')]
    const browser = openBrowser(await one.ready)
    await browser.fetch('/api/chat')
    const cookie = browser.cookie() ?? ''
    const accepted = await fetch(`${await same.ready}/api/chat`, { headers: { cookie } })
    expect(accepted.headers.getSetCookie()).toStrictEqual([])
    const refused = await fetch(`${await other.ready}/api/chat`, { headers: { cookie } })
    expect(refused.headers.getSetCookie()).toHaveLength(1)
    expect(existsSync(join(folder, 'one', 'desk.session.key'))).toBe(false)
  })
})
