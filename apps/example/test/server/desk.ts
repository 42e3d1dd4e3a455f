import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toNodeListener } from '@holdfast/chat-server/node'
import { createRecordingLog } from '@holdfast/testing'
import type { RecordingLog } from '@holdfast/testing'
import { composeDesk } from '../../server/compose.ts'
import { demoModel } from '../../server/demo-model.ts'
import { modelFromEnvironment } from '../../server/model-from-environment.ts'
import { OrderBook } from '../../server/orders.ts'
import { besideDatabase } from '../../server/settings.ts'
import type { OpenAiServer } from './openai-server.ts'

/** A desk that answers over HTTP from within the test's process. */
export interface Desk {
  readonly origin: string
  readonly log: RecordingLog
  /** Its books, as another process would read them. */
  readonly orders: OrderBook
  close(): Promise<void>
}

/** Opens a desk in a folder of its own, over the demo model or the one that a server offers. */
export async function openDesk({ openAi }: { readonly openAi?: OpenAiServer } = {}): Promise<Desk> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-desk-'))
  const databasePath = join(folder, 'desk.db')
  const log = createRecordingLog()
  const pageFolder = join(folder, 'page')
  mkdirSync(pageFolder)
  writeFileSync(join(pageFolder, 'index.html'), '<title>Order desk</title>')
  const desk = await composeDesk({
    databasePath,
    secret: undefined,
    reportPauseMs: 0,
    pageFolder,
    log,
    model:
      openAi === undefined
        ? { model: demoModel({ wordDelayMs: 0 }), name: 'offline demo', isDemo: true }
        : modelFromEnvironment({
            OPENAI_BASE_URL: openAi.baseUrl,
            OPENAI_API_KEY: openAi.apiKey,
            HOLDFAST_MODEL: 'scripted-1',
          }),
  })
  const server = createServer(toNodeListener((request) => desk.handle(request), { log }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const orders = new OrderBook(besideDatabase(databasePath, 'orders.db'))
  return {
    origin: `http://127.0.0.1:${address.port}`,
    log,
    orders,
    async close() {
      orders.close()
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      await desk.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
