import { readFileSync, readdirSync } from 'node:fs'
import { root } from './command.ts'

/** What these tests read of a manifest. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, unknown>>
  readonly engines?: { readonly node?: string }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** The folders of the packages that are published. */
export const packageFolders: readonly string[] = readdirSync(`${root}/packages`).toSorted()

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
}

/** The manifest of one of the packages, as it is in the workspace. */
export function manifestOf(packageFolder: string): Manifest {
  return readManifest(`${root}/packages/${packageFolder}`)
}

/** The exact version that the workspace's catalog has of a third party's package. */
export function catalogVersion(name: string): string {
  const workspace = readFileSync(`${root}/pnpm-workspace.yaml`, 'utf8')
  const catalog = workspace.slice(workspace.indexOf('\ncatalog:'))
  for (const spelling of [name, `'${name}'`]) {
    const line = catalog.split('\n').find((text) => text.startsWith(`  ${spelling}: `))
    if (line !== undefined) return line.slice(`  ${spelling}: `.length)
  }
  throw new Error(`the catalog has no ${name}`)
}
