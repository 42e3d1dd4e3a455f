import { once } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { toNodeListener } from '@holdfast/chat-server/node'
import { composeDesk } from './compose.ts'
import { explain } from './explain.ts'
import { modelFromEnvironment } from './model-from-environment.ts'
import { settingsFrom } from './settings.ts'
import { stderrLog } from './stderr-log.ts'

/** This file runs from `server/` (types stripped) and from `dist/server/` (compiled). */
const packageRoot = new URL(
  import.meta.url.includes('/dist/server/') ? '../../' : '../',
  import.meta.url,
)
const pageFolder = fileURLToPath(new URL('dist/page', packageRoot))

/** Starts the order desk, and stops it on SIGINT and SIGTERM. */
async function main(): Promise<void> {
  // Before anybody can know that there is something to stop.
  const stopped = Promise.race(
    (['SIGINT', 'SIGTERM'] as const).map((name) => once(process, name).then(() => name)),
  )
  const settings = settingsFrom(process.env)
  const model = modelFromEnvironment(process.env)
  let listener: RequestListener = (_request, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end()
  }
  // The port first: when it is taken, the database is left alone.
  const server = createServer((request, response) => listener(request, response))
  server.listen(settings.port, settings.host)
  await once(server, 'listening')
  const desk = await composeDesk({ ...settings, model, pageFolder, log: stderrLog }).catch(
    (error: unknown) => {
      server.close()
      server.closeAllConnections()
      throw error
    },
  )
  listener = toNodeListener((request) => desk.handle(request))
  process.stdout.write(`Order desk: ${addressOf(server)} (model: ${model.name})\n`)

  process.stdout.write(`Stopping (${await stopped}).\n`)
  server.close()
  server.closeAllConnections()
  await desk.close()
}

function addressOf(server: Server): string {
  const address = server.address()
  if (address === null || typeof address === 'string') return String(address)
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `http://${host}:${address.port}`
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
// Everything is closed, so the process ends by itself, with no thread cut off in its work. What a
// model's library may have left open does not hold it for long.
setTimeout(() => process.exit(), 5_000).unref()
