// Checks that the code in the documentation compiles.
//
//   node scripts/docs-examples.ts
//
// Every block of TypeScript in a README or below docs/ must equal a region of a `*.examples.ts` file that
// `npm run check` type-checks, and every `@example source="file#region"` must name one. A region is what
// stands between `// #region name` and `// #endregion name`. A block says `ts ignore` to be left alone.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

type Region = { readonly file: string; readonly name: string; readonly code: string }

type Block = { readonly file: string; readonly line: number; readonly code: string }

const root = fileURLToPath(new URL('..', import.meta.url))
const typescript = /^(ts|tsx|mts|typescript|js|jsx|mjs|javascript)$/

const documents = files('README.md', 'packages/*/README.md', 'docs/**/*.md')
const examples = files(
  'packages/*/test/**/*.examples.{ts,tsx}',
  'test/packing/**/*.examples.{ts,tsx}',
)
const regions = examples.flatMap(regionsOf)
const blocks = documents.flatMap(blocksOf)
const references = files('packages/*/src/**/*.ts').flatMap(referencesOf)

const problems = [
  ...examples
    .filter((file) => !isCompiled(file))
    .map((file) => `${file}: no tsconfig.json includes it`),
  ...blocks.filter(({ code }) => regions.every((region) => region.code !== code)).map(drift),
  ...references
    .filter(({ file, name }) =>
      regions.every((region) => region.file !== file || region.name !== name),
    )
    .map(({ from, file, name }) => `${from}: ${file} has no region ${name}`),
]
if (blocks.length === 0) problems.push('no block of TypeScript was found')
for (const problem of problems) console.error(problem)
console.log(
  `${blocks.length} blocks of code in ${documents.length} documents, ${problems.length} problems`,
)
process.exitCode = problems.length === 0 ? 0 : 1

function files(...patterns: readonly string[]): readonly string[] {
  return globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).toSorted()
}

function lines(file: string): readonly string[] {
  return readFileSync(join(root, file), 'utf8').split('\n')
}

function regionsOf(file: string): readonly Region[] {
  const all = lines(file)
  const marker = /^\s*\/\/ #(end)?region\b/
  return all.flatMap((line, start) => {
    const name = /^\s*\/\/ #region (\S+)$/.exec(line)?.[1]
    if (name === undefined) return []
    const length = all.slice(start).findIndex((other) => other.trim() === `// #endregion ${name}`)
    if (length === -1) throw new Error(`${file}:${start + 1}: the region ${name} has no end`)
    const inside = all.slice(start + 1, start + length).filter((other) => !marker.test(other))
    return [{ file, name, code: outdented(inside) }]
  })
}

function blocksOf(file: string): readonly Block[] {
  const all = lines(file)
  const found: Block[] = []
  for (let at = 0; at < all.length; at += 1) {
    const fence = /^\s*(`{3,}|~{3,})\s*(.*)$/.exec(all[at] ?? '')
    if (fence === null) continue
    const [, mark = '', info = ''] = fence
    const length = all.slice(at + 1).findIndex((line) => line.trim() === mark)
    if (length === -1) throw new Error(`${file}:${at + 1}: the block has no end`)
    const [language = '', ...words] = info.trim().split(/\s+/)
    if (typescript.test(language) && !words.includes('ignore')) {
      found.push({ file, line: at + 1, code: outdented(all.slice(at + 1, at + 1 + length)) })
    }
    at += length + 1
  }
  return found
}

function referencesOf(
  from: string,
): readonly { readonly from: string; readonly file: string; readonly name: string }[] {
  const text = readFileSync(join(root, from), 'utf8')
  return [...text.matchAll(/@example source="([^"#]+)#([^"]+)"/g)].map(
    ([, source = '', name = '']) => ({
      from,
      file: join(dirname(from), source),
      name,
    }),
  )
}

/** Where a block stands, and what of the example that it most likely was is different. */
function drift({ file, line, code }: Block): string {
  const shared = (region: Region) => {
    const known = new Set(region.code.split('\n'))
    return code.split('\n').filter((text) => known.has(text)).length
  }
  const [nearest] = regions.toSorted((one, other) => shared(other) - shared(one))
  if (nearest === undefined || shared(nearest) === 0) return `${file}:${line}: not compiled`
  const known = new Set(nearest.code.split('\n'))
  const first = code.split('\n').findIndex((text) => !known.has(text))
  const where = first === -1 ? 'it lacks lines' : `line ${line + first + 1} differs`
  return `${file}:${line}: not what ${nearest.file}#${nearest.name} has (${where})`
}

function outdented(code: readonly string[]): string {
  const margins = code.filter((line) => line.trim() !== '').map((line) => line.search(/\S/))
  const margin = Math.min(...margins)
  return code
    .map((line) => line.slice(margin).trimEnd())
    .join('\n')
    .trim()
}

/** Whether the nearest tsconfig.json includes the folder that a file is in. */
function isCompiled(file: string): boolean {
  let folder = dirname(file)
  while (!existsSync(join(root, folder, 'tsconfig.json'))) folder = dirname(folder)
  const config: { readonly include?: readonly string[]; readonly exclude?: readonly string[] } =
    JSON.parse(readFileSync(join(root, folder, 'tsconfig.json'), 'utf8'))
  const [top = ''] = relative(folder, file).split('/')
  return config.include?.includes(top) === true && config.exclude === undefined
}
