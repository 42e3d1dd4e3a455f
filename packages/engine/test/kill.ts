// Kills real processes while they execute a run, and checks what is left.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execPath } from 'node:process'
import { fileURLToPath } from 'node:url'
import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { createSeededRandom } from '@holdfast/testing'
import { crashStores } from './crash-stores.ts'
import type { CrashStoreName } from './crash-stores.ts'
import { expectIntact } from './everything.ts'

const script = fileURLToPath(new URL('./fixtures/everything-process.ts', import.meta.url))

/** How a process comes to its end. */
export type Death =
  | { readonly kind: 'none' }
  /** So long after it had opened the store. */
  | { readonly kind: 'time'; readonly afterMs: number }
  /** Just before or after its so-many-th commit. */
  | { readonly kind: 'commit'; readonly when: 'before' | 'after'; readonly commit: number }

/** Runs process after process until one comes to the end, and checks that all is intact. Gives the deaths that hit. */
export async function runThroughDeaths(
  storeName: CrashStoreName,
  deaths: readonly Death[],
): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-effects-'))
  const effectsPath = join(directory, 'effects.txt')
  const database = await crashStores[storeName].create(postgresUrl())
  let hits = 0
  try {
    for (;;) {
      const death = deaths[hits] ?? { kind: 'none' }
      if (await runProcess([storeName, database.location, effectsPath], death)) break
      hits += 1
    }
    const effects = new Map<string, number>()
    const lines = existsSync(effectsPath) ? readFileSync(effectsPath, 'utf8').split('\n') : []
    for (const key of lines.filter(Boolean)) effects.set(key, (effects.get(key) ?? 0) + 1)
    const store = await crashStores[storeName].open(database.location)
    try {
      await expectIntact(store, effects)
    } finally {
      await store.close()
    }
  } catch (error) {
    throw new Error(`${storeName}: ${JSON.stringify(deaths)}`, { cause: error })
  } finally {
    await database.destroy()
    rmSync(directory, { recursive: true, force: true })
  }
  return hits
}

/** Kills so many processes at random moments. Gives the kills that hit. */
export function runThroughKills(
  storeName: CrashStoreName,
  seed: number,
  kills: number,
): Promise<number> {
  const random = createSeededRandom(seed)
  const deaths = Array.from({ length: kills }, (): Death => {
    return { kind: 'time', afterMs: 5 + random.below(450) }
  })
  return runThroughDeaths(storeName, deaths)
}

/** One process: true if it came to the end, false if it died. */
function runProcess(where: readonly string[], death: Death): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const atCommit = death.kind === 'commit' ? [death.when, String(death.commit)] : []
    const parameters = ['--conditions=@holdfast/source', script, ...where, ...atCommit]
    const child = spawn(execPath, parameters, { stdio: ['ignore', 'pipe', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString()
    })
    child.stdout.on('data', (data: Buffer) => {
      if (!data.toString().includes('open') || death.kind !== 'time') return
      setTimeout(() => child.kill('SIGKILL'), death.afterMs)
    })
    child.on('exit', (code, signal) => {
      if (signal === 'SIGKILL') resolve(false)
      else if (code === 0) resolve(true)
      else reject(new Error(`the process failed: ${errors}`))
    })
  })
}
