import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../../server/main.ts', import.meta.url))

/** How a desk's process ended, and what it said. */
export interface DeskEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** The desk as a process of its own. */
export interface DeskProcess {
  /** Resolves with the origin that it says it is at. @throws when it ends before, with what it wrote */
  readonly ready: Promise<string>
  readonly ended: Promise<DeskEnd>
  /** As `ended`, for a desk that ends by itself. @throws when it does not, with where its threads are */
  refused(): Promise<DeskEnd>
  kill(signal: NodeJS.Signals): void
}

/** Everything that was started and has not ended. */
const running = new Set<DeskProcess>()

/** How long a desk that is to be refused may take: it never hangs the suite. Milliseconds. */
const patienceMs = 90_000

/** What each thread of a process does in the kernel, where the system tells. */
function threadsOf(pid: number | undefined): string {
  try {
    const folder = `/proc/${pid}/task`
    return readdirSync(folder)
      .map((thread) => {
        const read = (name: string): string =>
          readFileSync(join(folder, thread, name), 'utf8').trim()
        const state = /^State:\s+(\S)/m.exec(read('status'))?.[1]
        return `${read('comm')} ${state} ${read('wchan')} ${read('syscall').split(' ')[0]}`
      })
      .join(', ')
  } catch (error) {
    return String(error)
  }
}

/** Starts the desk with this environment and no model keys; without `PORT` on a port that is free. */
export function startDesk(environment: Readonly<Record<string, string>>): DeskProcess {
  const child = spawn(process.execPath, ['--conditions=@holdfast/source', entry], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      PORT: '0',
      HOLDFAST_DEMO_DELAY_MS: '0',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  let settle: { resolve(origin: string): void; reject(error: Error): void } | undefined
  const ready = new Promise<string>((resolve, reject) => {
    settle = { resolve, reject }
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    const origin = /^Order desk: (http:\S+)/m.exec(stdout)?.[1]
    if (origin !== undefined) settle?.resolve(origin)
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const desk: DeskProcess = {
    ready,
    ended: once(child, 'close').then(([code, signal]): DeskEnd => {
      running.delete(desk)
      settle?.reject(new Error(`the desk ended with ${String(code ?? signal)}: ${stderr}`))
      return { code, signal, stdout, stderr }
    }),
    async refused() {
      const patience = setTimeout(() => {
        stderr += `Still there after ${patienceMs} ms; said: ${stdout}; its threads: ${threadsOf(child.pid)}\n`
        child.kill('SIGKILL')
      }, patienceMs)
      try {
        return await desk.ended
      } finally {
        clearTimeout(patience)
      }
    },
    kill: (signal) => void child.kill(signal),
  }
  // Who waits for the end alone is not troubled by the rest.
  desk.ready.catch(() => undefined)
  running.add(desk)
  return desk
}

/** Ends whatever a test has left running. */
export async function endAll(): Promise<void> {
  await Promise.all(
    [...running].map((desk) => {
      desk.kill('SIGKILL')
      return desk.ended
    }),
  )
}
