// What is in the tarballs, as they would be published.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { root } from './command.ts'
import { catalogVersion, manifestOf, packageFolders, readManifest } from './packages.ts'

const { unpacked } = inject('installation')

/** Files below dist/ that may import Node's own modules; what is not here runs anywhere. */
const nodeOnly: Readonly<Record<string, RegExp>> = {
  'chat-server': /^dist\/node(\/|\.)/,
  engine: /./,
  'store-postgres': /./,
  'store-sqlite': /./,
  testing: /./,
  conformance: /./,
}

describe.each(packageFolders)('the tarball of %s', (name) => {
  const folder = join(unpacked, name)
  const files = globSync('**/*', { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()
  const read = (file: string) => readFileSync(join(folder, file), 'utf8')

  test('has its code, its declarations, its sources and its papers, and nothing else', () => {
    const others = files.filter((file) => !/^(dist|src)\//.test(file))
    expect(others).toEqual(['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'])
    expect(files.filter((file) => file.endsWith('.js'))).not.toEqual([])
    expect(
      files.filter((file) => !/\.(d\.ts|ts|js|js\.map|json|md|sql)$|^LICENSE$/.test(file)),
    ).toEqual([])
    expect(read('LICENSE')).toContain('Apache License')
    expect(read('README.md')).toMatch(new RegExp(`^# @holdfast/${name}\n`))
    expect(read('CHANGELOG.md')).toMatch(new RegExp(`^# @holdfast/${name}\n`))
  })

  test('has no tests and no examples', () => {
    expect(files.filter((file) => /(^|[/.-])(tests?|spec|examples?)([/.]|$)/.test(file))).toEqual(
      [],
    )
  })

  test('exports files that it has, and no condition of the workspace', () => {
    const { exports = {} } = readManifest(folder)
    const targets = Object.entries(exports).flatMap(([key, target]) => {
      if (typeof target === 'string') return [target]
      const conditions = target as Readonly<Record<string, string>>
      expect(Object.keys(conditions), key).toEqual(['types', 'default'])
      return Object.values(conditions)
    })
    expect(Object.keys(exports)).toEqual(Object.keys(manifestOf(name).exports ?? {}))
    expect(targets.filter((target) => !files.includes(target.slice('./'.length)))).toEqual([])
  })

  test('names versions where the workspace names itself', () => {
    const { dependencies = {}, peerDependencies = {} } = readManifest(folder)
    for (const [dependency, range] of Object.entries(dependencies)) {
      const ours = dependency.startsWith('@holdfast/')
      const expected = ours
        ? `^${manifestOf(dependency.slice('@holdfast/'.length)).version}`
        : catalogVersion(dependency)
      expect(range, dependency).toBe(expected)
    }
    expect(read('package.json')).not.toMatch(/workspace:|catalog:|link:|file:|@holdfast\/source/)
    expect(Object.values(peerDependencies).filter((range) => !/^>=\d/.test(range))).toEqual([])
  })

  test('mentions no path of the machine that made it', () => {
    const mentions = files.filter((file) => read(file).includes(root))
    expect(mentions).toEqual([])
  })

  test('imports modules of Node only where it says so', () => {
    const importing = files.filter(
      (file) => /^dist\/.*\.js$/.test(file) && /(from|import\()\s*['"]node:/.test(read(file)),
    )
    const allowed = nodeOnly[name]
    expect(importing.filter((file) => allowed?.test(file) !== true)).toEqual([])
  })

  test('has the sources that its source maps name', () => {
    const maps = files.filter((file) => file.endsWith('.js.map'))
    expect(maps).not.toEqual([])
    for (const file of maps) {
      const { sources }: { readonly sources: readonly string[] } = JSON.parse(read(file))
      const missing = sources.filter((source) => !existsSync(join(folder, dirname(file), source)))
      expect(missing, file).toEqual([])
    }
  })
})
