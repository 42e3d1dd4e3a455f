// The program of the README, started twice: the second time it finds the run of the first.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const cwd = mkdtempSync(join(tmpdir(), 'root-readme-'))
const program = fileURLToPath(new URL('readme.examples.ts', import.meta.url))
const start = () => execFileSync(process.execPath, [program], { cwd, encoding: 'utf8' })

const said = start()
assert.match(said, /^paid back as \S+\n$/)
assert.equal(start(), said)
rmSync(cwd, { recursive: true })
