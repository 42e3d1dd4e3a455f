// The crash proof: `npm run crash -- --kills 20 --seed 1 --json`.
//
// Prints one JSON object a seed (a line for a person without `--json`), and with several seeds their
// sum; on standard error what went wrong. Ends with 1 if anything did.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCrashArguments, usage } from './arguments.ts'
import type { CrashArguments } from './arguments.ts'
import { crashRun } from './crash-run.ts'
import { fewest, rareKinds, sentenceOf, summarize, sumOf } from './summary.ts'
import type { Summary } from './summary.ts'
import { problemsOf } from './verdict.ts'

/** So many seeds must have seen every kind. */
const seedsThatSeeAll = 10
/** Longer ones are whole in `evidence.json`. */
const longestText = 700

async function main({ kills, seeds, json }: CrashArguments): Promise<boolean> {
  const print = (summary: Summary): void => {
    console.log(json ? JSON.stringify(summary) : sentenceOf(summary))
  }
  const summaries: Summary[] = []
  let stands = true
  for (const seed of seeds) {
    const { record, folder, discard } = await crashRun({ kills, seed })
    const problems = problemsOf(record)
    const summary = summarize(record, problems)
    summaries.push(summary)
    print(summary)
    if (problems.length === 0) {
      discard()
      continue
    }
    stands = false
    writeFileSync(join(folder, 'evidence.json'), JSON.stringify(record, undefined, 1))
    console.error(`seed ${seed} did not stand: databases, server.log, evidence.json in ${folder}`)
    for (const { kind, text } of problems) console.error(`  ${kind}: ${text.slice(0, longestText)}`)
  }
  if (summaries.length === 1) return stands
  const total = sumOf(summaries)
  print(total)
  const rare = summaries.length >= seedsThatSeeAll ? rareKinds(total) : []
  if (rare.length > 0) console.error(`seen fewer than ${fewest} times: ${rare.join(', ')}`)
  return stands && rare.length === 0
}

function parseOrExit(): CrashArguments {
  try {
    return parseCrashArguments(process.argv.slice(2))
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`)
    process.exit(2)
  }
}

// An exit takes the server with it.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))
process.exit((await main(parseOrExit())) ? 0 : 1)
