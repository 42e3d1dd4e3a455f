import { expect } from 'vitest'

/** Traces of the server's inside that no answer may have. */
const inside =
  /\bat .+:\d+:\d+|node_modules|file:\/\/|\.[jt]s\b|\/tmp\/|\/home\/|\.db\b|\bSELECT\b|\bINSERT\b|sqlite|Error:/i

/** What is checked of a refusal. */
export interface Refusal {
  readonly status: number
  readonly contentType: string | null
  readonly text: string
}

/** Checks that an answer is `{ "error": { code, message } }` and nothing else, with this status and code. */
export function expectError(refusal: Refusal, status: number, code: string): void {
  expect.soft({ status: refusal.status, text: refusal.text }).toMatchObject({ status })
  expect(refusal.contentType).toMatch(/^application\/json/)
  expect(JSON.parse(refusal.text)).toStrictEqual({
    error: { code, message: expect.stringMatching(/^.{3,300}$/) },
  })
  expect(refusal.text).not.toMatch(inside)
}

/** What is to be checked of a response. */
export async function refusalOf(response: Response): Promise<Refusal> {
  return {
    status: response.status,
    contentType: response.headers.get('content-type'),
    text: await response.text(),
  }
}
