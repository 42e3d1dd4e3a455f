// Kills a real process, again and again, while it executes a run on a SQLite file.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '@holdfast/store-sqlite'
import { createSeededRandom } from '@holdfast/testing'
import { expectIntact } from './everything.ts'

const script = fileURLToPath(new URL('./fixtures/everything-process.ts', import.meta.url))

/** Runs to the end through so many kills at random moments, and checks that all is intact. Gives the kills that hit. */
export async function runThroughKills(seed: number, kills: number): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-kill-'))
  const path = join(directory, 'runs.db')
  const effectsPath = join(directory, 'effects.txt')
  const random = createSeededRandom(seed)
  let hits = 0
  try {
    for (let attempt = 0; ; attempt += 1) {
      const limit = attempt < kills ? 5 + random.below(450) : undefined
      const ended = await runProcess(path, effectsPath, limit)
      if (ended) break
      hits += 1
    }
    const effects = new Map<string, number>()
    const lines = existsSync(effectsPath) ? readFileSync(effectsPath, 'utf8').split('\n') : []
    for (const key of lines.filter(Boolean)) effects.set(key, (effects.get(key) ?? 0) + 1)
    const store = await openSqliteStore({ path })
    await expectIntact(store, effects)
    await store.close()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return hits
}

/** One process: true if it came to the end, false if it was killed, so long after it had opened the store. */
function runProcess(
  path: string,
  effectsPath: string,
  killAfterMs: number | undefined,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn(execPath, ['--conditions=@holdfast/source', script, path, effectsPath], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let errors = ''
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString()
    })
    child.stdout.on('data', (data: Buffer) => {
      if (!data.toString().includes('open') || killAfterMs === undefined) return
      setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    })
    child.on('exit', (code, signal) => {
      if (signal === 'SIGKILL') resolve(false)
      else if (code === 0) resolve(true)
      else reject(new Error(`the process failed: ${errors}`))
    })
  })
}
