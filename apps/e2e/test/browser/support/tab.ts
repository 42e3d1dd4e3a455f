// oxlint-disable vitest/no-standalone-expect -- a tab is only held by tests
import type { ConsoleMessage, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** What Chromium writes while nobody listens, or a server says that it is still starting. */
const serverIsAway =
  /^Failed to load resource: (net::ERR_|the server responded with a status of 503)/

/** Often enough to see an answer while it is being written, in milliseconds. */
const often = { interval: 10, timeout: 60_000 }

/** The numbers from 1, as the demo model counts. */
export function countTo(last: number): string {
  return Array.from({ length: last }, (_, index) => index + 1).join(' ')
}

/** The page of the order desk as a person sees it: by roles, names and text. */
export class Tab {
  readonly page: Page
  /** Errors of the page, and what it wrote to the console as an error or a warning. */
  readonly problems: string[] = []

  constructor(page: Page, serverGoesAway: boolean) {
    this.page = page
    page.setDefaultTimeout(often.timeout)
    page.on('pageerror', (error) => this.problems.push(`page error: ${error.stack}`))
    page.on('console', (message) => {
      if (!isComplaint(message) || (serverGoesAway && serverIsAway.test(message.text()))) return
      this.problems.push(`${message.type()}: ${message.text()} (${message.location().url})`)
    })
  }

  /** Everything that was said. */
  get log(): Locator {
    return this.page.getByRole('log', { name: 'messages' })
  }

  get composer(): Locator {
    return this.page.getByRole('textbox', { name: 'message', exact: true })
  }

  get stopButton(): Locator {
    return this.page.getByRole('button', { name: 'Stop', exact: true })
  }

  get connection(): Locator {
    return this.page.getByRole('status', { name: 'connection' })
  }

  /** Chats are on the left, runs on the right. */
  panel(name: 'chats' | 'runs'): Locator {
    return this.page.getByRole('complementary', { name })
  }

  /** The newest run of a definition. */
  run(definition: string): Locator {
    return this.panel('runs').getByRole('article', { name: definition, exact: true }).first()
  }

  async say(text: string): Promise<void> {
    await this.composer.fill(text)
    await this.page.getByRole('button', { name: 'Send', exact: true }).click()
  }

  /** Who said what, oldest first. */
  async conversation(): Promise<readonly string[]> {
    const articles = await this.log.getByRole('article').all()
    return Promise.all(
      articles.map(
        async (article) =>
          `${await article.getAttribute('aria-label')}: ${inOneLine(await article.innerText())}`,
      ),
    )
  }

  /** Waits until the log says just this and nothing more is being answered. */
  async hasConversation(expected: readonly (string | RegExp)[]): Promise<void> {
    await expect
      .poll(async () => this.conversation(), often)
      .toEqual(
        expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))),
      )
    await this.isIdle()
  }

  /** Waits until no answer is being written. */
  async isIdle(): Promise<void> {
    await this.stopButton.waitFor({ state: 'detached' })
  }

  /** Waits until an answer is written that holds a text. The whole answer as it was then. */
  async answerWith(text: string): Promise<string> {
    const answer = this.log.getByRole('article', { name: 'assistant' }).last()
    let seen = ''
    await expect
      .poll(async () => {
        seen = (await answer.count()) === 0 ? '' : inOneLine(await answer.innerText())
        return seen
      }, often)
      .toContain(text)
    return seen
  }

  /** Waits until an element says a text, and only that. */
  async says(element: Locator, text: string): Promise<void> {
    await expect.poll(async () => inOneLine((await element.textContent()) ?? ''), often).toBe(text)
  }

  /** Controls without a name, as the browser tells them to a screen reader. */
  async namelessControls(): Promise<readonly string[]> {
    const session = await this.page.context().newCDPSession(this.page)
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    await session.detach()
    const controls = nodes.filter(
      ({ ignored, role }) => !ignored && controlRoles.has(String(role?.value)),
    )
    // No control at all would mean that nothing was looked at.
    if (controls.length === 0) return ['no control was found']
    return controls
      .filter(({ name }) => String(name?.value ?? '').trim() === '')
      .map(({ role, nodeId }) => `${role?.value} ${nodeId}`)
  }
}

const controlRoles = new Set([
  'button',
  'checkbox',
  'combobox',
  'DisclosureTriangle',
  'link',
  'listbox',
  'radio',
  'searchbox',
  'slider',
  'spinbutton',
  'switch',
  'textbox',
])

function isComplaint(message: ConsoleMessage): boolean {
  return message.type() === 'error' || message.type() === 'warning'
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
