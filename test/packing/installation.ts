// Packs every package and installs the tarballs, once for all tests.
//
// Owns:  one folder under the system's temporary one, removed at the end.
// Never: lets a project see the workspace: it lies outside, hoists nothing, and links no package of it.
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { mustRun, pnpm, root, run } from './command.ts'
import { catalogVersion, manifestOf, packageFolders } from './packages.ts'
import { exampleFile, projects, uses } from './projects.ts'
import type { Project } from './projects.ts'

/** Where everything lies. */
export interface Installation {
  /** The folder of the projects' workspace. */
  readonly workspace: string
  /** Each tarball's content, by the package's folder. */
  readonly unpacked: string
  /** The Nodes to run on, by their versions. */
  readonly nodes: Readonly<Record<string, string>>
}

declare module 'vitest' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- that is how vitest is told
  interface ProvidedContext {
    installation: Installation
  }
}

/** Sets up what the tests share. Vitest calls it. */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-packing-')))
  try {
    const tarballs = join(folder, 'tarballs')
    const unpacked = join(folder, 'unpacked')
    const workspace = join(folder, 'workspace')
    await pack(tarballs, unpacked)
    await install(tarballs, workspace)
    const nodes = await installedNodes()
    project.provide('installation', { workspace, unpacked, nodes })
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  return () => rmSync(folder, { recursive: true, force: true })
}

async function pack(tarballs: string, unpacked: string): Promise<void> {
  const filter = ['--filter', './packages/*']
  await pnpm(['exec', 'turbo', 'run', 'build', ...filter, '--output-logs=errors-only'], root)
  await pnpm(['--recursive', ...filter, 'pack', '--silent', '--pack-destination', tarballs], root)
  for (const name of packageFolders) {
    const target = join(unpacked, name)
    mkdirSync(target, { recursive: true })
    const tarball = join(tarballs, tarballOf(name))
    await mustRun('tar', ['-xzf', tarball, '-C', target, '--strip-components', '1'], root)
  }
}

async function install(tarballs: string, workspace: string): Promise<void> {
  const tarballAt = (name: string) => `file:${join(tarballs, tarballOf(name))}`
  const settings = {
    packages: ['projects/*'],
    // Nothing but what a package declares is where it can be imported.
    nodeLinker: 'isolated',
    hoist: false,
    // Everything that is installed has to say that it runs on the oldest Node we promise.
    nodeVersion: await versionOf(oldestNode),
    engineStrict: true,
    overrides: Object.fromEntries(
      packageFolders.map((name) => [manifestOf(name).name, tarballAt(name)]),
    ),
  }
  mkdirSync(workspace, { recursive: true })
  // JSON is YAML.
  writeJson(join(workspace, 'pnpm-workspace.yaml'), settings)
  const compiled = { '@types/node': catalogVersion('@types/node') }
  writeJson(join(workspace, 'package.json'), { private: true, devDependencies: compiled })
  writeJson(join(workspace, 'tsconfig.json'), tsconfig)
  for (const project of projects) writeProject(workspace, project, tarballAt)
  // Third parties come in the versions that the workspace was tested with, and without asking the registry.
  cpSync(join(root, 'pnpm-lock.yaml'), join(workspace, 'pnpm-lock.yaml'))
  await pnpm(['install', '--no-frozen-lockfile', '--prefer-offline'], workspace)
}

/** What a careful user's compiler is told; declarations of packages are checked too. */
const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
  },
  include: ['projects/*/*.ts'],
}

function writeProject(
  workspace: string,
  { name, program, readme, packages, thirdParty }: Project,
  tarballAt: (name: string) => string,
): void {
  const folder = join(workspace, 'projects', name)
  mkdirSync(folder, { recursive: true })
  writeJson(join(folder, 'package.json'), {
    name,
    private: true,
    type: 'module',
    imports: readme === undefined ? {} : { [`#readme/${readme}`]: './readme.examples.ts' },
    dependencies: {
      ...Object.fromEntries(packages.map((of) => [manifestOf(of).name, tarballAt(of)])),
      ...Object.fromEntries(thirdParty.map((of) => [of, catalogVersion(of)])),
    },
    devDependencies: { '@types/node': catalogVersion('@types/node') },
  })
  cpSync(join(root, 'test/packing/programs', program), join(folder, 'program.ts'))
  if (readme !== undefined) {
    cpSync(join(root, exampleFile(readme)), join(folder, 'readme.examples.ts'))
  }
  if (name in uses) writeFileSync(join(folder, 'entries.ts'), everyEntry(name))
}

/** A program that imports every entry of a package. */
function everyEntry(name: string): string {
  const manifest = manifestOf(name)
  const entries = Object.keys(manifest.exports ?? {}).filter((key) => key !== './package.json')
  const imports = entries.map(
    (key, index) => `import * as entry${index} from '${manifest.name}${key.slice(1)}'`,
  )
  const list = entries.map((key, index) => `${JSON.stringify(key)}: entry${index}`)
  return [
    ...imports,
    `for (const [key, names] of Object.entries({ ${list.join(', ')} })) {`,
    '  if (Object.keys(names).length === 0) throw new Error(`${key} exports nothing`)',
    '}',
    '',
  ].join('\n')
}

const oldestNode = join(root, 'test/oldest-node/node_modules/.bin/node')

async function installedNodes(): Promise<Readonly<Record<string, string>>> {
  const paths = [join(root, 'node_modules/.bin/node'), oldestNode]
  return Object.fromEntries(
    await Promise.all(paths.map(async (path) => [await versionOf(path), path] as const)),
  )
}

async function versionOf(node: string): Promise<string> {
  const { code, output } = await run(node, ['--version'], root)
  if (code !== 0) throw new Error(`${node} does not run: ${output}`)
  return output.trim().slice(1)
}

function tarballOf(name: string): string {
  return `holdfast-${name}-${manifestOf(name).version}.tgz`
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}
