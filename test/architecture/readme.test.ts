// What the README says of the packages is what their manifests say.
import { existsSync, globSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(`${root}/${file}`, 'utf8')
const readme = read('README.md')

/** Rows of the table of packages: name, sentence, what it depends on. */
const rows = [
  ...readme.matchAll(/^\| \[`([\w-]+)`\]\(packages\/([\w-]+)\) *\|([^|]*)\|([^|]*)\|$/gm),
].map(([, name = '', folder = '', sentence = '', needs = '']) => ({
  name,
  folder,
  sentence: sentence.trim(),
  needs: needs.trim(),
}))

describe('the README', () => {
  test('has a row for every package', () => {
    expect(rows.map(({ name }) => name).toSorted()).toEqual(
      readdirSync(`${root}/packages`).toSorted(),
    )
  })

  test.each(rows)('says of $name what its manifest says', ({ name, folder, sentence, needs }) => {
    const {
      description,
      dependencies = {},
      peerDependencies = {},
    }: {
      readonly description: string
      readonly dependencies?: Readonly<Record<string, string>>
      readonly peerDependencies?: Readonly<Record<string, string>>
    } = JSON.parse(read(`packages/${name}/package.json`))
    const scope = '@holdfast/'
    const all = Object.keys(dependencies).toSorted()
    const expected = [
      ...all.filter((of) => of.startsWith(scope)).map((of) => of.slice(scope.length)),
      ...all.filter((of) => !of.startsWith(scope)),
      ...Object.keys(peerDependencies).map((of) => `${of} (peer)`),
    ]
    expect({ folder, sentence, needs }).toEqual({
      folder: name,
      sentence: description,
      needs: expected.length === 0 ? '–' : expected.join(', '),
    })
  })

  test('shows the picture of docs/architecture.md', () => {
    const picture = /```mermaid\n[^]*?```/
    expect(picture.exec(readme)?.[0]).toBe(picture.exec(read('docs/architecture.md'))?.[0])
  })
})

test.each(globSync(['README.md', 'packages/*/README.md', 'docs/**/*.md'], { cwd: root }))(
  'links of %s lead to files',
  (file) => {
    const links = [...read(file).matchAll(/\[[^\]]*\]\(([^)#:]+)(#[^)]*)?\)/g)].map(
      ([, link = '']) => link,
    )
    expect(links.filter((link) => !existsSync(join(root, dirname(file), link)))).toEqual([])
  },
)
