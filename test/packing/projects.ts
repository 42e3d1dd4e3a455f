// The empty projects into which the tarballs are installed, one program each.

/** A project outside the workspace. What it does not declare, it cannot import. */
export interface Project {
  /** Also its folder's name. */
  readonly name: string
  /** The file in programs/ that it runs; it imports the example of a package's README as `#readme/<package>`. */
  readonly program: string
  /** Whose README's example it has: a package's, or the `root`'s. */
  readonly readme?: string
  /** Tarballs that the project itself asks for; what these need follows. */
  readonly packages: readonly string[]
  /** Third parties that the program imports, or that are a peer of a package. */
  readonly thirdParty: readonly string[]
}

/** One use of each package alone: the example of its README. */
export const uses: Readonly<Record<string, Pick<Project, 'packages' | 'thirdParty'>>> = {
  agent: { packages: ['agent', 'core'], thirdParty: ['@ai-sdk/provider', 'ai', 'zod'] },
  'chat-client': { packages: ['chat-client'], thirdParty: ['ai'] },
  'chat-protocol': { packages: ['chat-protocol'], thirdParty: [] },
  'chat-server': {
    packages: ['chat-server', 'core', 'engine', 'store-memory', 'workflow'],
    thirdParty: ['typebox'],
  },
  conformance: { packages: ['conformance', 'store-memory'], thirdParty: ['vitest'] },
  core: { packages: ['core'], thirdParty: [] },
  engine: { packages: ['core', 'engine', 'store-memory', 'workflow'], thirdParty: [] },
  json: { packages: ['json'], thirdParty: [] },
  'store-memory': { packages: ['core', 'store-memory'], thirdParty: [] },
  'store-postgres': { packages: ['core', 'store-postgres'], thirdParty: [] },
  'store-sqlite': { packages: ['core', 'store-sqlite'], thirdParty: [] },
  testing: { packages: ['testing'], thirdParty: [] },
  tools: {
    packages: ['core', 'tools', 'workflow'],
    thirdParty: ['@modelcontextprotocol/sdk', 'ai'],
  },
  workflow: { packages: ['workflow'], thirdParty: ['typebox'] },
}

// `agent`, `chat-client` and `tools` are used without an engine or a store: their programs bring a scripted model, a server
// and a supervisor written by hand.

/** Packages put together. */
export const compositions: readonly Project[] = [
  {
    name: 'sqlite-reopened',
    program: 'sqlite-reopened.ts',
    packages: ['engine', 'store-sqlite', 'workflow'],
    thirdParty: ['typebox'],
  },
  {
    name: 'root-readme',
    program: 'root-readme.ts',
    readme: 'root',
    packages: ['core', 'engine', 'store-sqlite', 'workflow'],
    thirdParty: ['typebox'],
  },
]

/** Every project. */
export const projects: readonly Project[] = [
  ...Object.entries(uses).map(([name, use]) => ({
    name,
    program: `${name}.ts`,
    readme: name,
    ...use,
  })),
  ...compositions,
]

/** Where the example of a README is, from the repository's root. */
export function exampleFile(readme: string): string {
  return readme === 'root'
    ? 'test/packing/examples/root-readme.examples.ts'
    : `packages/${readme}/test/readme.examples.ts`
}
