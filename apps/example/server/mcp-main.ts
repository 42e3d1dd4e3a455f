// The desk's workflow tools for an editor: MCP over stdio, from the same composition as the server.
//
// Beside a desk that runs, starts and answers are made durable here and carried out there; alone, this
// process owns the database and carries them out itself, until its editor ends it.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { configurationInvalid, sessionIdFor } from '@holdfast/core'
import { createMcpServer } from '@holdfast/tools/mcp'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { composeDesk, mcpWords, openKey } from './compose.ts'
import { explain } from './explain.ts'
import { modelFromEnvironment } from './model-from-environment.ts'
import { createSessionCookies } from './session-cookie.ts'
import { settingsFrom, textSetting } from './settings.ts'
import { stderrLog } from './stderr-log.ts'

/** Whoever may start this process may read the database: without a token, this is their session. */
const localSession = sessionIdFor('mcp')

/** Serves the tools until the editor has gone; with `--token`, prints a token for it instead. */
async function main(): Promise<void> {
  const settings = settingsFrom(process.env)
  const [argument, ...more] = process.argv.slice(2)
  if (argument === '--token' && more.length === 0) {
    const cookies = createSessionCookies(openKey(settings))
    process.stdout.write(`${cookies.tokenOf(localSession)}\n`)
    return
  }
  if (argument !== undefined) throw configurationInvalid('The only argument is --token.')
  const desk = await composeDesk({
    ...settings,
    model: modelFromEnvironment(process.env),
    pageFolder: fileURLToPath(new URL('../dist/page', import.meta.url)),
    log: stderrLog,
    besideOwner: true,
  })
  try {
    const token = textSetting(process.env, 'HOLDFAST_TOKEN')
    const sessionId = token === undefined ? localSession : desk.sessionOf(token)
    if (sessionId === undefined) {
      throw configurationInvalid('HOLDFAST_TOKEN was not made by this database or secret.')
    }
    const server = createMcpServer({ tools: desk.toolsOf(sessionId), ...mcpWords })
    const gone = Promise.race([
      once(process.stdin, 'close'),
      once(process.stdin, 'end'),
      once(process.stdout, 'error'),
      once(process, 'SIGINT'),
      once(process, 'SIGTERM'),
    ])
    await server.connect(new StdioServerTransport())
    await gone
    await server.close()
  } finally {
    await desk.close()
  }
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${explain(error)}\n`)
  process.exitCode = 1
}
// As the server: what a library may have left open does not hold the process for long.
setTimeout(() => process.exit(), 5_000).unref()
