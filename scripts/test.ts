// Runs the vitest suite of every workspace package and counts the tests.
//
//   node scripts/test.ts [--long] [PACKAGE...]
//
// Owns: which suites run, and the last line `N passed, N failed`.
// Never: lets a suite that crashed, hung or ran no test pass for a green one.
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

type Suite = { readonly name: string; readonly folder: string }

type Outcome = {
  readonly passed: number
  readonly failed: number
  /** What went wrong beside failed tests, each counted as one failure. */
  readonly problems: readonly string[]
  readonly skipped: readonly string[]
  readonly log: string
}

type VitestReport = {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'node_modules/.bin')
// A test that needs a real component says so in its title, or in that of its suite: `[needs chromium]`.
const needsComponent = /\[needs [^\]]+\]/

const { values, positionals } = parseArgs({
  options: { long: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const long = values.long
const limitMs = (long ? 60 : 10) * 60_000
// A guard against hanging, no claim about speed: a disk that many share may stand still for a minute.
const hangMs = 180_000
const ci = process.env['CI'] === 'true'

const suites = findSuites()
const results = mkdtempSync(join(tmpdir(), 'holdfast-test-'))
process.on('exit', () => rmSync(results, { recursive: true, force: true }))

let passed = 0
const failures: string[] = []
let failedTests = 0
const skipped: string[] = []

if (suites.length === 0) failures.push('no suite to run')
if (suites.some(({ folder }) => folder.startsWith('apps/'))) {
  const build = await run('turbo', ['run', 'build', '--output-logs=errors-only'], root)
  if (build.code !== 0) {
    console.log(build.log)
    failures.push('the build failed')
  }
}
// Two at a time: many of them wait for disks, servers and a browser more than they compute.
const queue = [...suites]
await Promise.all([runQueue(), runQueue()])
for (const title of skipped) console.log(`skipped  ${title}`)
for (const problem of failures) console.log(`problem  ${problem}`)
const failed = failedTests + failures.length
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function findSuites(): readonly Suite[] {
  const found = globSync(
    ['packages/*/package.json', 'apps/*/package.json', 'bench/package.json', 'test/*/package.json'],
    { cwd: root },
  )
    .map((file) => join(file, '..'))
    .filter((folder) => {
      const manifest: { readonly scripts?: { readonly test?: string } } = JSON.parse(
        readFileSync(join(root, folder, 'package.json'), 'utf8'),
      )
      return manifest.scripts?.test !== undefined
    })
  const all = [...found, 'test/architecture'].map((folder) => ({ name: basename(folder), folder }))
  const unknown = positionals.filter((name) => all.every((suite) => suite.name !== name))
  if (unknown.length > 0) throw new Error(`no such package: ${unknown.join(', ')}`)
  return all
    .filter(({ name }) => positionals.length === 0 || positionals.includes(name))
    .filter(
      ({ folder }) =>
        !long || globSync('test/**/*.long.test.ts', { cwd: join(root, folder) }).length > 0,
    )
    .toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name))
}

/** Packages first: what they get wrong explains what the apps and the tarballs get wrong. */
function rank({ folder }: Suite): number {
  return folder.startsWith('packages/') ? 0 : 1
}

async function runQueue(): Promise<void> {
  for (let suite = queue.shift(); suite !== undefined; suite = queue.shift()) {
    const startedAt = Date.now()
    const outcome = await runSuite(suite)
    record(suite, outcome, (Date.now() - startedAt) / 1000)
  }
}

function record(suite: Suite, outcome: Outcome, seconds: number): void {
  const green = outcome.failed === 0 && outcome.problems.length === 0
  if (!green) console.log(outcome.log)
  console.log(
    `${green ? 'ok  ' : 'FAIL'} ${suite.name}: ${outcome.passed} passed, ${outcome.failed} failed` +
      `${outcome.skipped.length > 0 ? `, ${outcome.skipped.length} skipped` : ''} (${seconds.toFixed(1)} s)`,
  )
  passed += outcome.passed
  failedTests += outcome.failed
  failures.push(...outcome.problems.map((problem) => `${suite.name}: ${problem}`))
  skipped.push(...outcome.skipped.map((title) => `${suite.name}: ${title}`))
}

async function runSuite({ name, folder }: Suite): Promise<Outcome> {
  const file = join(results, `${name}.json`)
  const { code, log } = await run(
    'vitest',
    [
      'run',
      ...(long ? ['--mode', 'long'] : []),
      '--allowOnly=false',
      `--testTimeout=${hangMs}`,
      `--hookTimeout=${hangMs}`,
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ],
    join(root, folder),
  )
  if (!existsSync(file)) {
    return {
      passed: 0,
      failed: 0,
      problems: [`crashed (${code}) or found no test`],
      skipped: [],
      log,
    }
  }
  const report: VitestReport = JSON.parse(readFileSync(file, 'utf8'))
  const skips = report.testResults
    .flatMap((result) => result.assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName)
  const missing = skips.filter((title) => needsComponent.test(title))
  const problems = report.testResults
    .filter(
      ({ status, assertionResults }) =>
        status === 'failed' && assertionResults.every((test) => test.status !== 'failed'),
    )
    .map((result) => `${result.name} could not run`)
  if (report.numPassedTests + report.numFailedTests === 0 && (ci || missing.length === 0)) {
    problems.push('ran no test')
  }
  if (ci) problems.push(...missing.map((title) => `in CI this may not be skipped: ${title}`))
  if (code !== 0 && report.numFailedTests === 0 && problems.length === 0) {
    problems.push(`vitest ended with ${code}`)
  }
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    problems,
    skipped: skips,
    log,
  }
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: string | number; readonly log: string }> {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
  }
  const stop = (): void => {
    try {
      // The whole group: a worker or server that a test left behind goes too.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  const interrupted = (): void => {
    stop()
    process.exit(130)
  }
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    stop()
  }, limitMs)
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
  try {
    return await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code, signal) => {
        resolve({ code: timedOut ? `timeout after ${limitMs} ms` : (code ?? String(signal)), log })
      })
    })
  } finally {
    clearTimeout(timer)
    stop()
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
  }
}
