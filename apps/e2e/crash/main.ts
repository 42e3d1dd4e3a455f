// The crash proof: `npm run crash -- --kills 20 --seed 1 --json`.
//
// Prints one JSON object a seed (a line for a person without `--json`), and with several seeds their
// sum; on standard error what went wrong. Ends with 1 if anything did.
import { parseCrashArguments, usage } from './arguments.ts'
import type { CrashArguments } from './arguments.ts'
import { proveCrashes } from './crash-proof.ts'
import { crashRun } from './crash-run.ts'

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
const stands = await proveCrashes({
  ...parseOrExit(),
  run: crashRun,
  print: (line) => console.log(line),
  complain: (line) => console.error(line),
})
process.exit(stands ? 0 : 1)
