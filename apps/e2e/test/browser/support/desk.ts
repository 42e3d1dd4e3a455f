import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject } from 'vitest'
import { freePort, ServerProcess } from '../../../crash/server-process.ts'
import { Tab } from './tab.ts'

/** How a person's browser is. */
export interface VisitOptions {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  /** The server goes away on purpose: what the browser says of that in its console is expected. */
  readonly serverGoesAway?: boolean
}

/** An order desk with a server and a database of its own, and the browsers that visit it. */
export class Desk {
  readonly #browser: Browser
  readonly #tabs: Tab[] = []
  #contexts: BrowserContext[] = []
  readonly server: ServerProcess

  constructor(browser: Browser, server: ServerProcess) {
    this.#browser = browser
    this.server = server
  }

  /** Someone who has never been here opens the page, at a path of it. */
  async visit(options: VisitOptions = {}, path = '/'): Promise<Tab> {
    const { width = 1280, height = 800, colorScheme = 'light', serverGoesAway = false } = options
    const context = await this.#browser.newContext({
      viewport: { width, height },
      colorScheme,
      baseURL: this.server.origin,
    })
    this.#contexts.push(context)
    const tab = new Tab(await context.newPage(), serverGoesAway)
    this.#tabs.push(tab)
    await tab.page.goto(path)
    return tab
  }

  /** Closes all tabs. What their pages complained of since they were opened, oldest first. */
  async leave(): Promise<readonly string[]> {
    await Promise.all(this.#contexts.map(async (context) => context.close()))
    this.#contexts = []
    return this.#tabs.splice(0).flatMap(({ problems }) => problems)
  }
}

/** What {@link describeDesk} starts the server with. */
export interface DeskOptions {
  readonly title: string
  /** Asked for after everything that the suite itself starts. */
  readonly environment?: () => Readonly<Record<string, string>>
}

/**
 * A suite with a desk. Skipped where there is no Chromium, except in CI, where that is an error.
 *
 * A test fails, too, when a page of it had an error or wrote one to its console.
 */
export function describeDesk(
  { title, environment = () => ({}) }: DeskOptions,
  tests: (desk: () => Desk) => void,
): void {
  const found = inject('browser')
  const isSkipped = !found.ok && (process.env['CI'] ?? '') === ''
  describe.skipIf(isSkipped)(`${title} [needs chromium]`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-browser-'))
    let open: { readonly desk: Desk; readonly browser: Browser } | undefined

    beforeAll(async () => {
      if (!found.ok) throw new Error(`no Chromium starts\n${found.reasons.join('\n')}`)
      const server = new ServerProcess({
        databasePath: join(folder, 'desk.db'),
        port: await freePort(),
        logPath: join(folder, 'server.log'),
        environment: { HOLDFAST_DEMO_DELAY_MS: '20', ...environment() },
      })
      server.launch()
      const browser = await chromium.connect(found.endpoint)
      open = { desk: new Desk(browser, server), browser }
      expect(await server.answers()).toBe(true)
    })

    afterEach(async () => {
      expect(await open?.desk.leave()).toEqual([])
    })

    afterAll(async () => {
      await open?.browser.close()
      await open?.desk.server.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    tests(() => {
      if (open === undefined) throw new Error('the desk is open in tests only')
      return open.desk
    })
  })
}

const results = new URL('../../../test-results/', import.meta.url)

/** Where a screenshot goes: for people to look at. */
export function pictureOf(name: string): string {
  mkdirSync(results, { recursive: true })
  return new URL(`${name}.png`, results).pathname
}
