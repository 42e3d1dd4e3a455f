import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const example = `${root}apps/example`

/** What the page is made of. */
const sources = [
  'apps/example/index.html',
  'apps/example/vite.config.ts',
  'apps/example/{src,public}/**/*.*',
  'packages/*/src/**/*.ts',
]

/** Builds the page of the order desk unless it is there and newer than everything it is made of. */
export async function buildPage(): Promise<void> {
  const builtAt = changedAt(`${example}/dist/page/index.html`)
  const newest = Math.max(
    ...globSync(sources, { cwd: root }).map((file) => changedAt(`${root}${file}`)),
  )
  if (builtAt > newest) return
  const vite = `${example}/node_modules/vite/bin/vite.js`
  const command = [vite, 'build', '--logLevel', 'warn']
  // The tests' own mode would build React's slow half.
  const env = { ...process.env, NODE_ENV: 'production' }
  await promisify(execFile)(process.execPath, command, { cwd: example, env })
}

/** Milliseconds since 1970; 0 for a file that is not there. */
function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
