// File-level layers. The layer of a package is the tag in its turbo.json, its entry points are its exports.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('.', import.meta.url))

/** What the sources of a layer may import; tests may import kits and what they exercise, too. */
const mayImport = {
  contract: [],
  kernel: ['contract', 'kernel'],
  engine: ['contract', 'kernel'],
  adapter: ['contract', 'kernel'],
  feature: ['contract', 'kernel'],
  kit: ['contract', 'kernel'],
}

const packages = globSync('packages/*/package.json', { cwd: root }).map((file) => {
  const folder = file.slice(0, -'/package.json'.length)
  const [layer] = read(`${folder}/turbo.json`).tags
  if (mayImport[layer] === undefined) throw new Error(`${folder}/turbo.json has no known layer`)
  return { folder, layer }
})
const entryPoints = globSync('{packages,apps}/*/package.json', { cwd: root }).flatMap((file) =>
  Object.values(read(file).exports ?? {})
    .map((target) => target['@holdfast/source'])
    .filter((source) => source !== undefined)
    .map((source) => exactly(`${file.slice(0, -'package.json'.length)}${source.slice(2)}`)),
)

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'two types may name each other; two modules may not load each other',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        orphan: true,
        pathNot: [
          ...entryPoints,
          '\\.config\\.ts$',
          '\\.d\\.ts$',
          '/test/',
          '/(main|[^/]*worker)\\.tsx?$',
        ],
      },
      to: {},
    },
    ...packages.map(({ folder, layer }) => ({
      name: `layer-of-${folder.slice('packages/'.length)}`,
      comment: `a ${layer} imports only: ${mayImport[layer].join(', ') || 'nothing of ours'}`,
      severity: 'error',
      from: { path: `^${folder}/src/` },
      to: {
        path: '^(packages|apps|bench)/',
        pathNot: packages
          .filter((other) => other.folder === folder || mayImport[layer].includes(other.layer))
          .map((other) => `^${other.folder}/`),
      },
    })),
    {
      name: 'packages-not-on-apps',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(apps|bench)/' },
    },
    {
      name: 'no-deep-imports',
      comment: 'another package only through its exports',
      severity: 'error',
      from: { path: '^(packages/[^/]+|apps/[^/]+|bench)/' },
      to: { path: '^packages/[^/]+/src/', pathNot: ['^$1/', ...entryPoints] },
    },
    {
      name: 'chat-protocol-depends-on-nothing',
      severity: 'error',
      from: { path: '^packages/chat-protocol/src/' },
      to: { pathNot: '^packages/chat-protocol/src/' },
    },
    {
      name: 'only-json-validates',
      severity: 'error',
      from: { path: '^(packages|apps|bench)/', pathNot: '^packages/json/' },
      to: { path: 'node_modules/(ajv|ajv-formats)/' },
    },
    { name: 'not-to-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['npm-peer', 'npm'],
        pathNot: ['node_modules/@types/'],
      },
    },
  ],
  options: {
    doNotFollow: { path: ['node_modules'] },
    exclude: { path: ['/dist/', '/coverage/', '/temp/'] },
    tsPreCompilationDeps: true,
    combinedDependencies: false,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@holdfast/source', 'import', 'types', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
  },
}

function read(file) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}

function exactly(file) {
  return `^${file.replaceAll('.', '\\.')}$`
}
