import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type DeskEnd, endAll, startDesk } from './desk-process.ts'

let folder: string
/** A database that a desk has made and closed. */
let made: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-start-'))
  made = join(folder, 'made', 'desk.db')
  const desk = startDesk({ HOLDFAST_DB: made })
  await desk.ready
  desk.kill('SIGTERM')
  const { code, stderr } = await desk.ended
  // A log that an unclean end left behind would make good what the tests spoil.
  if (code !== 0) throw new Error(`The desk did not stop cleanly: ${stderr}`)
})
afterEach(endAll)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder of its own with a copy of the database in it. */
function copyOfDatabase(name: string): string {
  const copy = join(folder, name)
  mkdirSync(copy)
  for (const file of readdirSync(join(folder, 'made'))) {
    writeFileSync(join(copy, file), readFileSync(join(folder, 'made', file)))
  }
  return join(copy, 'desk.db')
}

/** One clear line, code 1, and nothing of the inside. */
function expectRefusal({ code, stdout, stderr }: DeskEnd, line: RegExp): void {
  expect(stderr).toMatch(/^[^\n]{10,300}\n$/)
  expect(stderr).toMatch(line)
  expect(stderr).not.toMatch(/\bat .+:\d+:\d+|node_modules|\[object|undefined|Error\b/)
  expect(stdout).toBe('')
  expect(code).toBe(1)
}

/** Every file of a folder with its mode and digest. Looking at a database may leave an empty log beside it. */
function digests(path: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(path).flatMap((name) => {
      const file = join(path, name)
      const { mode, size } = statSync(file)
      if (name.endsWith('-shm') || (name.endsWith('-wal') && size === 0)) return []
      const hash = createHash('sha256').update(readFileSync(file))
      return [[`${name} ${mode.toString(8)}`, hash.digest('hex')]]
    }),
  )
}

describe('a database that cannot be used', () => {
  interface Spoilt {
    readonly what: string
    readonly spoil: (path: string) => void
    readonly line: RegExp
  }
  const spoilt: readonly Spoilt[] = [
    {
      what: 'read-only',
      spoil: (path) => chmodSync(path, 0o444),
      line: /desk\.db is read-only/,
    },
    {
      what: 'from a newer version',
      spoil: (path) => changeDatabase(path, 'pragma user_version = 9999'),
      line: /desk\.db has version 9999; this release reads up to \d+/,
    },
    {
      what: 'of another application',
      spoil: (path) => changeDatabase(path, 'pragma application_id = 77'),
      line: /desk\.db /,
    },
    {
      what: 'text',
      spoil: (path) => writeFileSync(path, 'Dear diary, today nothing was durable.\n'.repeat(500)),
      line: /desk\.db is not a database/,
    },
    {
      what: 'cut off',
      spoil: (path) => writeFileSync(path, readFileSync(path).subarray(0, 4_096 + 100)),
      line: /desk\.db is damaged/,
    },
  ]

  test.each(spoilt)(
    '$what: one line, code 1, every file untouched',
    async ({ what, spoil, line }) => {
      const path = copyOfDatabase(what.replaceAll(' ', '-'))
      spoil(path)
      const before = digests(join(path, '..'))
      expectRefusal(await startDesk({ HOLDFAST_DB: path }).refused(), line)
      expect(digests(join(path, '..'))).toStrictEqual(before)
    },
  )

  test('locked by a desk that runs: it is named, the file is untouched, and that desk goes on', async () => {
    const path = copyOfDatabase('owned')
    const owner = startDesk({ HOLDFAST_DB: path })
    const origin = await owner.ready
    const before = readFileSync(path)
    expectRefusal(
      await startDesk({ HOLDFAST_DB: path }).refused(),
      /desk\.db is owned by process \d+/,
    )
    expect(readFileSync(path).equals(before)).toBe(true)
    expect((await fetch(`${origin}/api/chat`)).status).toBe(200)
  })

  test('locked by another program: one line, code 1, untouched', async () => {
    const path = copyOfDatabase('locked')
    const before = readFileSync(path)
    // Not read while it is locked: a process that closes a file lets go of all its locks on it.
    const other = new DatabaseSync(path)
    other.exec('pragma locking_mode = exclusive; begin exclusive')
    try {
      const end = await startDesk({ HOLDFAST_DB: path }).refused()
      expectRefusal(end, /desk\.db is locked by another process/)
    } finally {
      other.close()
    }
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('a folder', async () => {
    const end = await startDesk({ HOLDFAST_DB: folder }).refused()
    expectRefusal(end, /holdfast-start-/)
  })

  test('in a folder that is a file', async () => {
    const file = join(folder, 'a-file')
    writeFileSync(file, 'x')
    const end = await startDesk({ HOLDFAST_DB: join(file, 'desk.db') }).refused()
    expectRefusal(end, /The folder .*a-file/)
    expect(readFileSync(file, 'utf8')).toBe('x')
  })

  test('in a folder that may not be written', async () => {
    // To root everything may be written that is on a disk.
    const isRoot = process.getuid?.() === 0
    const closed = isRoot ? '/sys/kernel' : join(folder, 'closed')
    if (!isRoot) mkdirSync(closed, { mode: 0o555 })
    const end = await startDesk({ HOLDFAST_DB: join(closed, 'inner', 'desk.db') }).refused()
    expectRefusal(end, /The folder .*inner/)
    const inside = await startDesk({ HOLDFAST_DB: join(closed, 'desk.db') }).refused()
    expectRefusal(inside, /desk\.db/)
  })

  test('books that are no database', async () => {
    const path = copyOfDatabase('books')
    const books = path.replace('.db', '.orders.db')
    writeFileSync(books, 'three orders\n'.repeat(500))
    const before = readFileSync(books)
    expectRefusal(await startDesk({ HOLDFAST_DB: path }).refused(), /desk\.orders\.db/)
    expect(readFileSync(books).equals(before)).toBe(true)
  })
})

describe('a folder that is missing', () => {
  test('is made', async () => {
    const path = join(folder, 'new', 'deeper', 'desk.db')
    const desk = startDesk({ HOLDFAST_DB: path })
    expect((await fetch(`${await desk.ready}/api/info`)).status).toBe(200)
    const key = path.replace('.db', '.session.key')
    expect((statSync(key).mode & 0o777).toString(8)).toBe('600')
  })
})

describe('settings that cannot be used', () => {
  test('a port in use: one line, code 1, and no file is made', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const address = other.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const unborn = join(folder, 'unborn', 'desk.db')
    try {
      const end = await startDesk({ HOLDFAST_DB: unborn, PORT: String(port) }).refused()
      expectRefusal(end, /port.* in use/i)
      expect(readdirSync(folder)).not.toContain('unborn')
    } finally {
      other.close()
    }
  })

  test.each([
    ['PORT', 'abc'],
    ['HOLDFAST_DEMO_DELAY_MS', 'slow'],
    ['OPENAI_BASE_URL', 'not a url'],
    ['HOST', 'no.such.host.invalid'],
  ])('%s=%s', async (name, value) => {
    const unborn = join(folder, 'unborn', 'desk.db')
    const end = await startDesk({ HOLDFAST_DB: unborn, [name]: value }).refused()
    expectRefusal(end, new RegExp(name))
    expect(readdirSync(folder)).not.toContain('unborn')
  })

  test('an empty one is as good as none', async () => {
    const desk = startDesk({
      HOLDFAST_DB: join(folder, 'empty', 'desk.db'),
      HOLDFAST_SECRET: '',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
      ANTHROPIC_API_KEY: '',
      HOLDFAST_MODEL: '',
      HOLDFAST_DEMO_DELAY_MS: '',
    })
    const info = await fetch(`${await desk.ready}/api/info`)
    expect(await info.json()).toStrictEqual({ model: 'offline demo', isDemo: true })
  })
})

function changeDatabase(path: string, statement: string): void {
  const database = new DatabaseSync(path)
  database.exec(statement)
  database.close()
}
