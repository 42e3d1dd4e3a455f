// The published surface, pinned. Changing it means editing this table on purpose.
import { globSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

type Layer = 'contract' | 'kernel' | 'engine' | 'adapter' | 'feature' | 'kit'

type Surface = {
  readonly layer: Layer
  readonly exports: readonly string[]
  readonly internal: readonly string[]
  readonly thirdParty: readonly string[]
  readonly peers: readonly string[]
}

type Manifest = {
  readonly name: string
  readonly private?: boolean
  readonly scripts?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly publishConfig?: {
    readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  }
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly packageManager?: string
}

const surfaces: Readonly<Record<string, Surface>> = {
  agent: {
    layer: 'feature',
    exports: ['.'],
    internal: ['core', 'json', 'workflow'],
    thirdParty: ['@ai-sdk/provider', '@ai-sdk/provider-utils', 'typebox'],
    peers: ['ai'],
  },
  'chat-client': {
    layer: 'feature',
    exports: ['.'],
    internal: ['chat-protocol'],
    thirdParty: [],
    peers: ['ai'],
  },
  'chat-protocol': {
    layer: 'kernel',
    exports: ['.'],
    internal: [],
    thirdParty: [],
    peers: [],
  },
  'chat-server': {
    layer: 'feature',
    exports: ['.', './node'],
    internal: ['chat-protocol', 'core', 'json', 'workflow'],
    thirdParty: [],
    peers: [],
  },
  conformance: {
    layer: 'kit',
    exports: ['.'],
    internal: ['core'],
    thirdParty: ['fast-check'],
    peers: ['vitest'],
  },
  core: {
    layer: 'contract',
    exports: ['.', './commit-rules', './system'],
    internal: [],
    thirdParty: ['nanoid', 'typebox', 'uuid'],
    peers: [],
  },
  engine: {
    layer: 'engine',
    exports: ['.'],
    internal: ['core', 'json', 'workflow'],
    thirdParty: [],
    peers: [],
  },
  json: {
    layer: 'kernel',
    exports: ['.'],
    internal: ['core'],
    thirdParty: ['@noble/hashes', 'ajv', 'ajv-formats', 'canonicalize', 'typebox'],
    peers: [],
  },
  'store-memory': {
    layer: 'adapter',
    exports: ['.'],
    internal: ['core'],
    thirdParty: [],
    peers: [],
  },
  'store-postgres': {
    layer: 'adapter',
    exports: ['.'],
    internal: ['core'],
    thirdParty: ['pg'],
    peers: [],
  },
  'store-sqlite': {
    layer: 'adapter',
    exports: ['.'],
    internal: ['core'],
    thirdParty: [],
    peers: ['better-sqlite3'],
  },
  testing: {
    layer: 'kit',
    exports: ['.'],
    internal: ['core'],
    thirdParty: [],
    peers: [],
  },
  tools: {
    layer: 'feature',
    exports: ['.', './ai-sdk', './mcp'],
    internal: ['core', 'json', 'workflow'],
    thirdParty: [],
    peers: ['@modelcontextprotocol/sdk', 'ai'],
  },
  workflow: {
    layer: 'kernel',
    exports: ['.'],
    internal: ['core', 'json'],
    thirdParty: ['typebox', 'uuid'],
    peers: [],
  },
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const scope = '@holdfast/'

describe('packages', () => {
  test('every folder under packages/ is in the table, and nothing else', () => {
    const folders = readdirSync(`${root}/packages`)
    expect(folders.toSorted()).toEqual(Object.keys(surfaces).toSorted())
  })

  test.each(Object.entries(surfaces))(
    '%s exports and depends on what the table says',
    (name, surface) => {
      const manifest = manifestOf(`packages/${name}`)
      const { tags }: { readonly tags: readonly string[] } = JSON.parse(
        read(`packages/${name}/turbo.json`),
      )
      const dependencies = Object.keys(manifest.dependencies ?? {})
      expect(manifest.name).toBe(`${scope}${name}`)
      expect(tags).toEqual([surface.layer])
      expect({
        exports: exportKeys(manifest.exports),
        internal: dependencies
          .filter((dependency) => dependency.startsWith(scope))
          .map((dependency) => dependency.slice(scope.length))
          .toSorted(),
        thirdParty: dependencies.filter((dependency) => !dependency.startsWith(scope)).toSorted(),
        peers: Object.keys(manifest.peerDependencies ?? {}).toSorted(),
      }).toEqual({
        exports: surface.exports,
        internal: surface.internal,
        thirdParty: surface.thirdParty,
        peers: surface.peers,
      })
    },
  )

  test.each(Object.keys(surfaces))(
    '%s publishes its exports without the source condition',
    (name) => {
      const { exports, publishConfig } = manifestOf(`packages/${name}`)
      const published = Object.fromEntries(
        Object.entries(exports ?? {}).map(([key, target]) => {
          if (typeof target === 'string') return [key, target]
          const { '@holdfast/source': source, ...rest } = target
          expect(source).toMatch(/^\.\/src\/.+\.ts$/)
          return [key, rest]
        }),
      )
      expect(publishConfig?.exports).toEqual(published)
    },
  )

  test('only json depends on ajv', () => {
    const owners = everyManifest()
      .filter((manifest) =>
        ['ajv', 'ajv-formats'].some((validator) =>
          [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies].some(
            (list) => list?.[validator] !== undefined,
          ),
        ),
      )
      .map(({ name }) => name)
    expect(owners).toEqual([`${scope}json`])
  })

  test('what another package of ours provides is taken from the workspace, the rest from the catalog', () => {
    for (const { name, dependencies, devDependencies } of everyManifest()) {
      for (const [dependency, range] of Object.entries({ ...dependencies, ...devDependencies })) {
        const expected = dependency.startsWith(scope) ? /^workspace:\^$/ : /^catalog:(oldest)?$/
        expect(range, `${name} → ${dependency}`).toMatch(expected)
      }
    }
  })
})

describe('version strings', () => {
  test('every script calls the pnpm that packageManager names', () => {
    const { packageManager, scripts } = manifestOf('.')
    const called = [...Object.values(scripts ?? {}), read('.ci/run')].flatMap((text) =>
      [...text.matchAll(/pnpm@\d[\w.-]*/g)].map(([version]) => version),
    )
    expect(called.length).toBeGreaterThanOrEqual(3)
    expect(new Set(called)).toEqual(new Set([packageManager]))
  })

  test('engine checks assume the Node that is installed', () => {
    const workspace = read('pnpm-workspace.yaml')
    const assumed = /^nodeVersion: (\S+)$/m.exec(workspace)?.[1]
    const installed = /^ {2}node: (\S+)$/m.exec(
      workspace.slice(workspace.indexOf('\ncatalog:')),
    )?.[1]
    expect(assumed).toMatch(/^\d+\.\d+\.\d+$/)
    expect(installed).toBe(assumed)
    expect(process.versions.node).toBe(assumed)
  })
})

function everyManifest(): readonly Manifest[] {
  return [
    '.',
    ...globSync('{packages,apps,test}/*/package.json', { cwd: root }).map((file) =>
      file.slice(0, -'/package.json'.length),
    ),
    'bench',
    'tooling',
  ].map(manifestOf)
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(read(`${folder}/package.json`))
}

function read(file: string): string {
  return readFileSync(`${root}/${file}`, 'utf8')
}

function exportKeys(exports: Manifest['exports']): readonly string[] {
  return Object.keys(exports ?? {})
    .filter((key) => key !== './package.json')
    .toSorted()
}
