// A real PgBouncer in front of a server: the installed one, or Debian's package unpacked to a cache.
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@holdfast/postgres-server'

/** Where what was fetched is kept from one run to the next. */
const cache = join(tmpdir(), 'holdfast-pgbouncer-cache')

/** A running PgBouncer in transaction mode. */
export interface TestPgBouncer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts one in front of a server; `undefined` where there is none to be had. */
export async function startPgBouncer(serverUrl: string): Promise<TestPgBouncer | undefined> {
  const program = findProgram()
  if (program === undefined) return undefined
  const server = new URL(serverUrl)
  const port = await freePort()
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-pgbouncer-'))
  const settings = join(directory, 'pgbouncer.ini')
  writeFileSync(
    settings,
    [
      '[databases]',
      `* = host=${server.hostname} port=${server.port} user=postgres`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      // Fewer than the stores open, so that connections are shared from one transaction to the next.
      'default_pool_size = 4',
      'max_client_conn = 500',
    ].join('\n'),
  )
  chmodSync(directory, 0o755)
  const child = spawn(program.path, [settings], {
    ...(userInfo().uid === 0 ? postgresUser() : {}),
    env: { ...process.env, LD_LIBRARY_PATH: program.libraries },
    stdio: 'ignore',
  })
  // Also when a test file fails before its hooks are known.
  const kill = (): void => void child.kill('SIGKILL')
  process.once('exit', kill)
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()))
  const stop = async (): Promise<void> => {
    kill()
    process.off('exit', kill)
    await ended
    rmSync(directory, { recursive: true, force: true })
  }
  let gone = false
  void ended.then(() => {
    gone = true
  })
  while (!gone && !(await answers(port))) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  if (gone) {
    await stop()
    throw new Error('PgBouncer ended at its start.')
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop }
}

function findProgram(): { readonly path: string; readonly libraries: string } | undefined {
  const installed = ['/usr/sbin/pgbouncer', '/usr/local/bin/pgbouncer', '/usr/bin/pgbouncer']
  const path = installed.find((file) => existsSync(file))
  if (path !== undefined) return { path, libraries: '' }
  const fetched = join(cache, 'usr/sbin/pgbouncer')
  if (!existsSync(fetched) && !fetchPackages()) return undefined
  const [libraries = ''] = globSync(join(cache, 'usr/lib/*-linux-gnu'))
  return { path: fetched, libraries }
}

/** Fetches the package and the libraries that a small system lacks. Answers whether that went well. */
function fetchPackages(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-pgbouncer-fetch-'))
  try {
    const packages = ['pgbouncer', 'libc-ares2', 'libevent-2.1-7']
    execFileSync('apt-get', ['download', ...packages], { cwd: folder, stdio: 'ignore' })
    mkdirSync(cache, { recursive: true })
    for (const file of globSync('*.deb', { cwd: folder })) {
      execFileSync('dpkg', ['-x', file, cache], { cwd: folder, stdio: 'ignore' })
    }
    return existsSync(join(cache, 'usr/sbin/pgbouncer'))
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** It refuses to run as root. The user is there: the server runs as it. */
function postgresUser(): { readonly uid: number; readonly gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (answer: boolean) => (): void => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', end(true))
    socket.once('error', end(false))
  })
}
