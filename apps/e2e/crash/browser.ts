// One browser: a cookie, requests that are tried until they are answered, tabs.
//
// Owns:  the cookie.
// Never: repeats a request with other ids, takes a refusal for an answer.
import { setTimeout as pause } from 'node:timers/promises'
import type { Ledger } from './ledger.ts'
import type { SeededRandom } from './seeded-random.ts'

/** An answer to a JSON request. */
export interface JsonAnswer {
  readonly status: number
  readonly body: unknown
  /** An earlier attempt may have been carried out: its answer was lost. */
  readonly isRepeated: boolean
}

/** What a browser is made of. */
export interface BrowserOptions {
  readonly number: number
  readonly origin: string
  readonly ledger: Ledger
  readonly random: SeededRandom
  /** Ends all waiting. */
  readonly deadline: AbortSignal
}

/** One browser's session. */
export class Browser {
  readonly number: number
  readonly origin: string
  readonly ledger: Ledger
  readonly random: SeededRandom
  readonly deadline: AbortSignal
  #cookie: string | undefined

  constructor({ number, origin, ledger, random, deadline }: BrowserOptions) {
    this.number = number
    this.origin = origin
    this.ledger = ledger
    this.random = random
    this.deadline = deadline
  }

  /** The same browser with another end of all waiting. */
  withDeadline(deadline: AbortSignal): Browser {
    const { number, origin, ledger, random } = this
    const browser = new Browser({ number, origin, ledger, random, deadline })
    browser.#cookie = this.#cookie
    return browser
  }

  /** Opens the page: from then on it has a session. */
  async open(): Promise<void> {
    await this.request('GET', '/api/chat')
    if (this.#cookie === undefined) throw new Error('the server gave no cookie')
  }

  /** `fetch` of this browser, for a path or URL of the server. */
  readonly fetch: typeof fetch = async (input, init) => {
    const headers = new Headers(init?.headers)
    if (this.#cookie !== undefined) headers.set('cookie', this.#cookie)
    const url = new URL(input instanceof Request ? input.url : input, this.origin)
    const response = await fetch(url, { ...init, headers })
    const [given] = response.headers.getSetCookie()
    if (given !== undefined) {
      const value = given.split(';', 1)[0]
      if (this.#cookie !== undefined && this.#cookie !== value) {
        this.ledger.failures.push(`browser ${this.number} lost its session`)
      }
      this.#cookie = value
    }
    return response
  }

  /**
   * Asks until there is an answer that is no 429 and no 503. Repeats must be harmless.
   *
   * @throws once the deadline has passed, or when the server fails (5xx)
   */
  async request(method: 'GET' | 'POST', path: string, body?: unknown): Promise<JsonAnswer> {
    let isRepeated = false
    for (;;) {
      this.deadline.throwIfAborted()
      try {
        const response = await this.fetch(path, {
          method,
          signal: this.deadline,
          headers: { accept: 'application/json', 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        })
        const text = await response.text()
        const { status } = response
        if (status !== 429 && status !== 503) {
          if (status >= 500) throw new RefusedError(`${method} ${path}: ${status} ${text}`)
          return { status, body: text === '' ? undefined : JSON.parse(text), isRepeated }
        }
      } catch (error) {
        this.deadline.throwIfAborted()
        if (error instanceof RefusedError) throw error
        isRepeated = true
      }
      await pause(this.random.between(50, 150))
    }
  }

  /** The body of a GET that must succeed. */
  async get(path: string): Promise<unknown> {
    const { status, body } = await this.request('GET', path)
    if (status === 200) return body
    throw new RefusedError(`GET ${path}: ${status} ${JSON.stringify(body)}`)
  }
}

/** The server gave an answer that it should not have given. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError'
}
