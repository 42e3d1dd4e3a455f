// What a changeset moves, found out with a copy of the workspace's manifests in a repository of its own.
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { mustRun, root } from './command.ts'
import { manifestOf, packageFolders, readManifest } from './packages.ts'

const folders: string[] = []

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe('a changeset', () => {
  test('for a package on which none depends moves that package alone', async () => {
    expect(dependentsOf('store-memory')).toEqual([])
    const moved = await release({ 'store-memory': 'minor' })
    expect(moved).toEqual({ 'store-memory': '0.4.0' })
  })

  test('for a package that others depend on moves these by a patch, and nothing else', async () => {
    const dependents = dependentsOf('json')
    expect(dependents).toContain('workflow')
    expect(dependents).not.toContain('core')
    const moved = await release({ json: 'minor' })
    expect(moved).toEqual({
      json: '0.4.0',
      ...Object.fromEntries(dependents.map((name) => [name, '0.3.2'])),
    })
  })

  test('for a patch that every range of a dependent lets in moves that package alone', async () => {
    expect(await release({ json: 'patch' })).toEqual({ json: '0.3.2' })
  })

  test('is written into the changelogs of what it moved', async () => {
    const repository = await repositoryAt('0.3.1')
    await version(repository, { 'chat-protocol': 'minor' })
    const changelog = (name: string) =>
      readFileSync(join(repository, 'packages', name, 'CHANGELOG.md'), 'utf8')
    expect(changelog('chat-protocol')).toContain('## 0.4.0')
    expect(changelog('chat-protocol')).toContain('What a user sees.')
    expect(changelog('chat-client')).toContain('@holdfast/chat-protocol@0.4.0')
    expect(changelog('core')).not.toContain('0.4.0')
  })
})

test('the changesets that wait can be released', async () => {
  const repository = await repositoryAt(undefined)
  const waiting = globSync('.changeset/*.md', { cwd: root })
  for (const file of waiting) cpSync(join(root, file), join(repository, file))
  await commit(repository)
  if (waiting.length > 0) await changesetVersion(repository)
  expect(globSync('.changeset/*.md', { cwd: repository })).toEqual([])
  const moved = packageFolders.filter(
    (name) => versionIn(repository, name) !== manifestOf(name).version,
  )
  expect(moved.length > 0).toBe(waiting.length > 0)
})

/** The versions that moved, when everything was at 0.3.1. */
async function release(
  bumps: Readonly<Record<string, 'minor' | 'patch'>>,
): Promise<Readonly<Record<string, string>>> {
  const repository = await repositoryAt('0.3.1')
  await version(repository, bumps)
  return Object.fromEntries(
    packageFolders
      .map((name) => [name, versionIn(repository, name)] as const)
      .filter(([, after]) => after !== '0.3.1'),
  )
}

/** A repository with the workspace's manifests and nothing else; every package at a version, if one is given. */
async function repositoryAt(everyVersion: string | undefined): Promise<string> {
  const repository = mkdtempSync(join(tmpdir(), 'holdfast-versions-'))
  folders.push(repository)
  const files = globSync(
    [
      'package.json',
      'pnpm-workspace.yaml',
      '.changeset/config.json',
      'tooling/changelog.js',
    ].concat(
      ['{packages,apps,test}/*/package.json', '{bench,tooling}/package.json'],
      'packages/*/CHANGELOG.md',
    ),
    { cwd: root },
  )
  for (const file of files) {
    mkdirSync(join(repository, dirname(file)), { recursive: true })
    const text = readFileSync(join(root, file), 'utf8')
    const isPackage = /^packages\/[^/]+\/package\.json$/.test(file)
    writeFileSync(
      join(repository, file),
      isPackage && everyVersion !== undefined
        ? text.replace(/"version": "[^"]*"/, `"version": "${everyVersion}"`)
        : text,
    )
  }
  symlinkSync(join(root, 'tooling/node_modules'), join(repository, 'tooling/node_modules'))
  await mustRun('git', ['init', '--quiet', '--initial-branch=main'], repository)
  await commit(repository)
  return repository
}

async function version(
  repository: string,
  bumps: Readonly<Record<string, 'minor' | 'patch'>>,
): Promise<void> {
  const lines = Object.entries(bumps).map(([name, bump]) => `'@holdfast/${name}': ${bump}`)
  const text = `---\n${lines.join('\n')}\n---\n\nWhat a user sees.\n`
  writeFileSync(join(repository, '.changeset/one.md'), text)
  await commit(repository)
  await changesetVersion(repository)
}

function changesetVersion(repository: string): Promise<string> {
  return mustRun(join(root, 'tooling/node_modules/.bin/changeset'), ['version'], repository)
}

async function commit(repository: string): Promise<void> {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.invalid']
  await mustRun('git', ['add', '--all'], repository)
  const message = ['--quiet', '--allow-empty', '--message', 'A change']
  await mustRun('git', [...who, '-c', 'commit.gpgsign=false', 'commit', ...message], repository)
}

function versionIn(repository: string, name: string): string {
  return readManifest(join(repository, 'packages', name)).version
}

/** The packages that need another one where they are installed. */
function dependentsOf(name: string): readonly string[] {
  return packageFolders.filter((other) => {
    const { dependencies, peerDependencies } = manifestOf(other)
    return `@holdfast/${name}` in { ...dependencies, ...peerDependencies }
  })
}
