// The tarballs as a user gets them: installed into empty projects, type-checked and run.
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { root, run } from './command.ts'
import type { Ended } from './command.ts'
import { manifestOf, packageFolders } from './packages.ts'
import { projects, uses } from './projects.ts'

const { workspace, nodes } = inject('installation')
const versions = Object.keys(nodes)

describe('the projects', () => {
  test('every package is used alone', () => {
    expect(Object.keys(uses)).toEqual(packageFolders)
  })

  test('run on the Node of the workspace and on the oldest one that every package promises', () => {
    expect(versions.map((version) => version.split('.').slice(0, 2).join('.'))).toEqual([
      process.versions.node.split('.').slice(0, 2).join('.'),
      '22.18',
    ])
    for (const name of packageFolders) expect(manifestOf(name).engines?.node).toBe('>=22.18')
  })

  test('take our packages from the tarballs', () => {
    for (const { name, packages } of projects) {
      for (const of of packages) {
        const folder = realpathSync(join(workspace, 'projects', name, 'node_modules/@holdfast', of))
        expect(folder.startsWith(`${workspace}/node_modules/`), folder).toBe(true)
        expect(existsSync(join(folder, 'test'))).toBe(false)
      }
    }
  })

  test('cannot import what they do not declare', async () => {
    const program = "await import('@holdfast/json'); await import('ajv')"
    const { code, output } = await runNode('json', ['--input-type=module', '--eval', program])
    expect(code).toBe(1)
    expect(output).toContain("Cannot find package 'ajv'")
  })
})

describe('types', () => {
  let diagnostics: readonly string[] = []
  let checked: ReadonlySet<string> = new Set()

  beforeAll(async () => {
    const tsc = join(root, 'node_modules/.bin/tsc')
    const { output } = await run(tsc, ['--listFiles', '--pretty', 'false'], workspace)
    const lines = output.split('\n')
    diagnostics = lines.filter((line) => /error TS\d+/.test(line))
    checked = new Set(lines.filter((line) => line.startsWith('/')))
  })

  test.each(projects.map(({ name }) => name))('of what %s writes fit', (name) => {
    const folder = join('projects', name)
    expect(checked).toContain(join(workspace, folder, 'program.ts'))
    expect(diagnostics.filter((line) => line.startsWith(`${folder}/`))).toEqual([])
  })

  test.each(packageFolders)('of the declarations of %s are right, unskipped', (name) => {
    const inPackage = new RegExp(`node_modules/@holdfast/${name}/dist/`)
    expect([...checked].filter((file) => inPackage.test(file))).not.toEqual([])
    expect(diagnostics.filter((line) => inPackage.test(line))).toEqual([])
  })

  test('complain of nobody else but the AI SDK, whose own do not fit exactOptionalPropertyTypes', () => {
    const others = diagnostics.filter(
      (line) =>
        !line.startsWith('projects/') &&
        !line.includes('node_modules/@holdfast/') &&
        !/node_modules\/(@ai-sdk\/[\w-]+|ai)\/dist\//.test(line),
    )
    expect(others).toEqual([])
  })
})

describe.each(versions)('on Node %s', (version) => {
  test.concurrent.each(projects.map(({ name }) => name))('the program of %s runs', async (name) => {
    expect(await runNode(name, ['program.ts'], version)).toEqual(success)
  })

  test.concurrent.each(packageFolders)('every entry of %s can be imported', async (name) => {
    expect(await runNode(name, ['entries.ts'], version)).toEqual(success)
  })
})

/** What it said is only there to be read when it failed. */
const success: Ended = { code: 0, output: expect.any(String) }

function runNode(project: string, args: readonly string[], version = versions[0] ?? '') {
  return run(nodes[version] ?? '', args, join(workspace, 'projects', project))
}
