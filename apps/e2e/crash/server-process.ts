// The real server as a child process, which can be killed at any moment and started again.
//
// Owns:  the process of the current life, the log file of all lives.
// Never: leaves a process behind, takes a death that nobody asked for as a kill.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const entry = fileURLToPath(new URL('../../example/server/main.ts', import.meta.url))

/** How many characters of what a server printed are shown when it dies. */
const lastWords = 2_000

/** What a server is started with. */
export interface ServerOptions {
  readonly databasePath: string
  readonly port: number
  /** Where what it prints is kept, over all of its lives. */
  readonly logPath: string
  readonly environment?: Readonly<Record<string, string>>
}

/** One server over many lives. */
export class ServerProcess {
  readonly origin: string
  readonly #options: ServerOptions
  #child: ChildProcess | undefined
  #lives = 0
  #isEnding = false

  constructor(options: ServerOptions) {
    this.#options = options
    this.origin = `http://127.0.0.1:${options.port}`
    process.on('exit', () => this.#child?.kill('SIGKILL'))
  }

  /** Starts it. It answers some time later: see {@link answers}. */
  launch(): void {
    const { databasePath, port, logPath, environment } = this.#options
    const child = spawn(process.execPath, ['--conditions=@holdfast/source', entry], {
      env: {
        ...environmentWithoutModels(),
        PORT: String(port),
        HOST: '127.0.0.1',
        HOLDFAST_DB: databasePath,
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#isEnding = false
    this.#lives += 1
    const keep = (text: string): void => appendFileSync(logPath, text)
    keep(`--- life ${this.#lives}, process ${child.pid}\n`)
    child.stdout?.setEncoding('utf8').on('data', keep)
    child.stderr?.setEncoding('utf8').on('data', keep)
    child.on('exit', (code, signal) => keep(`--- ended by ${signal ?? `code ${code}`}\n`))
  }

  /** Waits until it answers. Resolves with false when it was killed before. */
  async answers(): Promise<boolean> {
    const child = this.#child
    for (;;) {
      if (this.#isEnding || child !== this.#child) return false
      this.assertAlive()
      try {
        const response = await fetch(`${this.origin}/api/info`)
        await response.body?.cancel()
        if (response.ok) return true
      } catch {
        // Not there yet.
      }
      await pause(10)
    }
  }

  /** @throws when it has ended though nobody killed it */
  assertAlive(): void {
    const { exitCode, signalCode } = this.#child ?? {}
    if (this.#isEnding || (exitCode ?? signalCode ?? undefined) === undefined) return
    const said = readFileSync(this.#options.logPath, 'utf8').slice(-lastWords)
    throw new Error(`the server ended by itself with ${exitCode ?? signalCode}:\n${said}`)
  }

  /** Kills it with SIGKILL and waits until it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Asks it to stop and waits until it has. Resolves with its exit code. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM')
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    this.assertAlive()
    if (child === undefined || this.#isEnding) return child?.exitCode ?? null
    this.#isEnding = true
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
    return child.exitCode
  }
}

/** The crash proof always talks to the demo model, whatever keys the user has. */
function environmentWithoutModels(): NodeJS.ProcessEnv {
  const {
    OPENAI_BASE_URL: _url,
    OPENAI_API_KEY: _openAi,
    ANTHROPIC_API_KEY: _anthropic,
    HOLDFAST_MODEL: _model,
    ...rest
  } = process.env
  return rest
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
