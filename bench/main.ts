// npm run bench -- NAME [--json]: runs one benchmark and prints its report.
import type { Report } from './measure.ts'

const benches: Readonly<Record<string, () => Promise<{ readonly run: () => Promise<Report> }>>> = {
  store: () => import('./store.ts'),
  engine: () => import('./engine.ts'),
  agent: () => import('./agent.ts'),
  chat: () => import('./chat.ts'),
  tools: () => import('./tools.ts'),
}

const [name = '', ...flags] = process.argv.slice(2).filter((argument) => argument !== '--')
const load = benches[name]
if (load === undefined) {
  process.stderr.write(`Name a benchmark: ${Object.keys(benches).join(', ')}.\n`)
  process.exit(1)
}
const { run } = await load()
const result = await run()
process.stdout.write(
  flags.includes('--json') ? `${JSON.stringify(result)}\n` : `${asTable(result)}\n`,
)

function asTable(report: Report): string {
  const lines = report.rows.map((row) => {
    const spread = `${round(row.min)} to ${round(row.max)}`
    const target =
      row.target === undefined ? '' : ` target ${row.target} ${row.ok === true ? 'held' : 'MISSED'}`
    return `${row.id}: ${round(row.value)} ${row.unit} (${spread})${target}`
  })
  return [`${report.bench}, ${report.date}, node ${report.node}, ${report.cpus}`, ...lines].join(
    '\n',
  )
}

function round(value: number): string {
  return Number(value.toPrecision(4)).toString()
}
