import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** How a command ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Tools of the workspace run on its Node, whatever the user has; and nothing thinks that it runs in this suite. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'))),
  PATH: `${root}/node_modules/.bin${delimiter}${process.env['PATH'] ?? ''}`,
}

/** Runs a command to its end, whatever that is. */
export function run(command: string, args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}

/** Runs a command that has to succeed. */
export async function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<string> {
  const { code, output } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${output}`)
  return output
}

/** Runs the pnpm that the workspace pins. It has to succeed. */
export function pnpm(args: readonly string[], cwd: string): Promise<string> {
  const { packageManager }: { readonly packageManager: string } = JSON.parse(
    readFileSync(`${root}/package.json`, 'utf8'),
  )
  return mustRun('npx', ['--yes', '--prefer-offline', packageManager, ...args], cwd)
}
