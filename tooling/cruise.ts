// Runs dependency-cruiser, and fails when it saw no module: without a TypeScript it can use, it passes on none.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

type Report = {
  readonly summary: {
    readonly totalCruised: number
    readonly violations: readonly {
      readonly from: string
      readonly to: string
      readonly rule: { readonly name: string }
    }[]
  }
}

const { stdout, stderr } = spawnSync(
  'depcruise',
  [
    ...['--config', '.dependency-cruiser.mjs', '--output-type', 'json'],
    ...['packages', 'apps', 'bench'],
  ],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    encoding: 'utf8',
    maxBuffer: 512 * 1024 * 1024,
  },
)
if (!stdout.startsWith('{')) throw new Error(`depcruise failed\n${stdout}${stderr}`)

const { summary }: Report = JSON.parse(stdout)
for (const { rule, from, to } of summary.violations) console.error(`${rule.name}: ${from} → ${to}`)
console.log(`${summary.totalCruised} modules, ${summary.violations.length} violations`)
if (summary.totalCruised === 0) console.error('dependency-cruiser saw no module')
process.exitCode = summary.totalCruised > 0 && summary.violations.length === 0 ? 0 : 1
