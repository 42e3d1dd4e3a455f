import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Whether strace is there, and may trace. */
export const hasStrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0

/** What a traced process did: `synced` once it had returned, `said` when it began to write a line. */
export type Traced =
  | { readonly kind: 'synced'; readonly file: string; readonly ok: boolean }
  | { readonly kind: 'said'; readonly line: string }

/** What a program did and said that ran under strace. */
export interface Trace {
  readonly events: readonly Traced[]
  readonly output: string
}

/** Runs a program of this folder under strace, which may be told to make calls fail. */
export async function trace(
  directory: string,
  program: string,
  args: readonly string[],
  straceOptions: readonly string[] = [],
): Promise<Trace> {
  const file = join(directory, 'trace')
  const child = spawn(
    'strace',
    [
      ...['-f', '-qq', '-y', '-s', '200', '-o', file, '-e', 'trace=fsync,fdatasync,write'],
      ...straceOptions,
      process.execPath,
      ...['--conditions=@holdfast/source', '--experimental-strip-types', '--no-warnings'],
      join(import.meta.dirname, program),
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const [output, complaints] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  const ended = child.exitCode === 0 || child.signalCode === 'SIGKILL'
  if (!ended || complaints !== '') throw new Error(`${program} failed: ${complaints}`)
  return { events: parse(readFileSync(file, 'utf8')), output }
}

/** Reads a trace. A call that another thread's interrupts has a line of its own for its end. */
export function parse(trace: string): readonly Traced[] {
  const events: Traced[] = []
  const unfinished = new Map<string, string>()
  for (const line of trace.split('\n')) {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const said = /^write\(1(?:<[^>]*>)?, "(.*)\\n"/.exec(call)?.[1]
    if (said !== undefined) events.push({ kind: 'said', line: said })
    const begun = /^f(?:data)?sync\(\d+<([^>]*)>/.exec(call)?.[1]
    if (begun !== undefined && call.includes('<unfinished')) unfinished.set(thread, begun)
    else if (begun !== undefined) events.push(synced(begun, call))
    if (/^<\.\.\. f(?:data)?sync resumed/.test(call)) {
      events.push(synced(unfinished.get(thread) ?? '', call))
    }
  }
  return events
}

function synced(file: string, call: string): Traced {
  return { kind: 'synced', file, ok: call.endsWith('= 0') }
}
