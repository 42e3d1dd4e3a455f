import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CrashArguments } from './arguments.ts'
import type { CrashRun, CrashRunOptions } from './crash-run.ts'
import { fewest, rareKinds, sentenceOf, summarize, sumOf } from './summary.ts'
import type { Summary } from './summary.ts'
import { problemsOf } from './verdict.ts'

/** What a proof works with. */
export interface CrashProofOptions extends CrashArguments {
  readonly run: (options: CrashRunOptions) => Promise<CrashRun>
  /** Takes the figures, a line each. */
  readonly print: (line: string) => void
  /** Takes what went wrong. */
  readonly complain: (line: string) => void
}

/** So many seeds must have seen every kind. */
const seedsThatSeeAll = 10
/** Longer ones are whole in `evidence.json`. */
const longestText = 700
/** How many are told of a seed. */
const mostProblems = 30

/**
 * Runs every seed, prints the figures of each and, of several, their sum. Resolves with whether all
 * of it stood. What a seed left is kept if it did not.
 */
export async function proveCrashes(options: CrashProofOptions): Promise<boolean> {
  const { kills, seeds, json, run, complain } = options
  const print = (summary: Summary): void => {
    options.print(json ? JSON.stringify(summary) : sentenceOf(summary))
  }
  const summaries: Summary[] = []
  let stands = true
  for (const seed of seeds) {
    const { record, folder, discard } = await run({ kills, seed })
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
    complain(`seed ${seed} did not stand: databases, server.log, evidence.json in ${folder}`)
    for (const { kind, text } of problems.slice(0, mostProblems)) {
      complain(`  ${kind}: ${text.slice(0, longestText)}`)
    }
    const more = problems.length - mostProblems
    if (more > 0) complain(`  and ${more} more`)
  }
  if (summaries.length === 1) return stands
  const total = sumOf(summaries)
  print(total)
  const rare = summaries.length >= seedsThatSeeAll ? rareKinds(total) : []
  if (rare.length > 0) complain(`seen fewer than ${fewest} times: ${rare.join(', ')}`)
  return stands && rare.length === 0
}
