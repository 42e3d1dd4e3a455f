import type { OpenInterrupt } from '@holdfast/core'
import type { Session } from './session.ts'

/** An open question that anyone may answer, unless a test says otherwise. */
export function question(id: string, more: Partial<OpenInterrupt> = {}): OpenInterrupt {
  return { id, key: 'approve', revision: 1, answer: 'anyone', openedAt: 1, ...more }
}

/** A run of `letters_flow` that stands still for these questions. */
export async function asking(
  session: Session,
  ...interrupts: readonly OpenInterrupt[]
): Promise<string> {
  const runId = await session.start({ name: 'letters_flow', version: 'v1' }, {})
  await session.move(runId, { status: 'running' })
  await session.move(runId, { status: 'interrupted', interrupts })
  return runId
}
