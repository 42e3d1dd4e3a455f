import { expect } from 'vitest'
import type { JournalEntry } from '@holdfast/workflow'
import { iterationsOf } from '../src/loop-path.ts'
import { isSettling } from '../src/operation.ts'
import type { NewerCode, Piece, Seen } from './random-program.ts'
import { entriesOf, settledSteps, tryProgram } from './trial.ts'
import type { Trial } from './trial.ts'

/**
 * Runs a program, then cuts it at commits and goes on from each, on a fresh database:
 *
 * - what was journaled stays the beginning of the journal, and what the definition saw of it stays
 *   the beginning of what it sees;
 * - no body of a settled step runs again, none of a `once` step that had begun;
 * - a replay of the whole journal gives the same result, and runs no body at all.
 */
export async function checkReplay(
  program: Piece,
  seed: number,
  cutsOf: (commits: number) => readonly number[],
): Promise<void> {
  const whole = await tryProgram(program, { seed, cancels: seed % 3 === 0 })
  expect(whole.blocked).toEqual([])
  const end = whole.commits.findIndex((commit) =>
    entriesOf([commit]).some(({ kind }) => kind === 'run-ended'),
  )
  expect(end).toBeGreaterThan(0)
  await checkWholeReplay(program, seed, whole, end)
  for (const cut of cutsOf(end)) {
    const from = whole.commits.slice(0, cut)
    const journaled = entriesOf(from)
    const resumed = await tryProgram(program, { seed: seed + cut + 1, from })
    expect(resumed.blocked).toEqual([])
    expect(resumed.entries.slice(0, journaled.length)).toEqual(journaled)
    expectNoBodyTwice(resumed, journaled)
    expect(seenThrough(resumed.seen, journaled)).toEqual(seenThrough(whole.seen, journaled))
    const resumedEnd = resumed.commits.findIndex((commit) =>
      entriesOf([commit]).some(({ kind }) => kind === 'run-ended'),
    )
    if (cut % 3 === 0) await checkWholeReplay(program, seed + cut, resumed, resumedEnd)
  }
}

async function checkWholeReplay(
  program: Piece,
  seed: number,
  whole: Trial,
  end: number,
): Promise<void> {
  const again = await tryProgram(program, { seed: seed + 77, from: whole.commits.slice(0, end) })
  expect(again.blocked).toEqual([])
  expect(again.seen).toEqual(whole.seen)
  expect(again.ended).toEqual(whole.ended)
  expect(again.run.record.status).toBe(whole.run.record.status)
  expect(again.run.record.error).toEqual(whole.run.record.error)
  expectNoBodyTwice(again, entriesOf(whole.commits.slice(0, end)))
}

function expectNoBodyTwice(trial: Trial, journaled: readonly JournalEntry[]): void {
  const settled = settledSteps(journaled)
  const again = [...trial.began.keys()].filter((stepId) => settled.has(stepId))
  expect(again).toEqual([])
}

/** What was seen by the time that the last settling entry of a journal was delivered. */
function seenThrough(seen: readonly Seen[], entries: readonly JournalEntry[]): readonly Seen[] {
  const last = Math.max(0, ...entries.filter(isSettling).map(({ at }) => at))
  // What is seen at the last entry's own time may go on after the cut: messages, say.
  return seen.filter(([now]) => now < last)
}

/**
 * Cuts a program where a step has settled and goes on with other code, in which that step has
 * another key: the run is blocked before any body has run, and its journal stays as it was.
 *
 * @returns false when the program settles no step
 */
export async function checkRenamed(program: Piece, seed: number): Promise<boolean> {
  const whole = await tryProgram(program, { seed })
  const cut = whole.commits.findLastIndex((commit) => entriesOf([commit]).some(isLastingStep))
  if (cut < 0) return false
  const from = whole.commits.slice(0, cut + 1)
  const journaled = entriesOf(from)
  const settled = journaled.find(isLastingStep)
  const renamed = withOtherKey(program, settled?.kind === 'step-completed' ? settled.label : '')
  const blocked = await tryProgram(renamed, { seed: seed + 1, from, stopsBlocked: true })
  expect(blocked.run.record).toMatchObject({ status: 'running', waitingFor: 'code', parked: true })
  expect(blocked.blocked).not.toEqual([])
  expect([...blocked.began.keys()]).toEqual([])
  const after = blocked.entries.slice(journaled.length)
  // What reaches the run is still journaled; nothing that the definition does is.
  expect(
    after.filter(
      ({ kind }) =>
        kind !== 'message-arrived' && kind !== 'interrupt-answered' && kind !== 'child-ended',
    ),
  ).toEqual([])
  return true
}

/**
 * Cuts a program and goes on with code in which a key has another name everywhere, and which says so by
 * its `migrate`: what was seen stays what is seen, no body runs twice, and a replay of the whole
 * journal, old names and new ones, is the same again.
 *
 * @returns false when the journal has none of the plain keys
 */
export async function checkMigrated(program: Piece, seed: number): Promise<boolean> {
  const whole = await tryProgram(program, { seed })
  const end = whole.commits.findIndex((commit) =>
    entriesOf([commit]).some(({ kind }) => kind === 'run-ended'),
  )
  const cut = 1 + (seed % Math.max(1, end - 1))
  const from = whole.commits.slice(0, cut)
  const journaled = entriesOf(from)
  const names = new Set(journaled.flatMap((entry) => ('path' in entry ? [nameOf(entry.path)] : [])))
  const old = ['a', 'b', 'c'].find((key) =>
    [...names].some((name) => name.split('/').includes(key)),
  )
  if (old === undefined) return false
  const renamed = new Map<string, string>()
  for (const name of names) {
    const to = name
      .split('/')
      .map((key) => (key === old ? 'renamed' : key))
      .join('/')
    if (to !== name) renamed.set(name, to)
  }
  const newer: NewerCode = {
    keys: { [old]: 'renamed' },
    skew: { kind: 'migrate', migrate: () => ({ renamed: Object.fromEntries(renamed) }) },
  }
  const migrated = await tryProgram(program, { seed: seed + 1, from, newer })
  expect(migrated.blocked).toEqual([])
  expect(migrated.entries.slice(0, journaled.length)).toEqual(journaled)
  expect(seenThrough(migrated.seen, journaled)).toEqual(seenThrough(whole.seen, journaled))
  const underNewNames = journaled.map((entry) =>
    'path' in entry ? { ...entry, path: entry.path.replaceAll(keyIn(old), '$1renamed') } : entry,
  )
  expectNoBodyTwice(migrated, underNewNames)
  const migratedEnd = migrated.commits.findIndex((commit) =>
    entriesOf([commit]).some(({ kind }) => kind === 'run-ended'),
  )
  const again = await tryProgram(program, {
    seed: seed + 78,
    from: migrated.commits.slice(0, migratedEnd),
    newer,
  })
  expect(again.blocked).toEqual([])
  expect(again.seen).toEqual(migrated.seen)
  expect(again.ended).toEqual(migrated.ended)
  expect([...again.began.keys()]).toEqual([])
  return true
}

/** A key in a path. */
function keyIn(key: string): RegExp {
  return new RegExp(`(^|/)${key}(?=[#:/]|$)`, 'g')
}

/** A path's keys, without occurrences and iterations. */
function nameOf(path: string): string {
  return path
    .split('/')
    .map((segment) => segment.replace(/(#\d+)?(:\d+)?$/, ''))
    .join('/')
}

/** A step outside of loops: those of finished iterations are not needed any more, under no name. */
function isLastingStep(entry: JournalEntry): boolean {
  return entry.kind === 'step-completed' && iterationsOf(entry.path).length === 0
}

/** The same program in which the steps with this key have another. */
function withOtherKey(piece: Piece, key: string): Piece {
  const within = (inner: Piece): Piece => withOtherKey(inner, key)
  switch (piece.kind) {
    case 'step':
    case 'once':
      return piece.key === key ? { ...piece, key: 'renamed' } : piece
    case 'catch':
    case 'cleanup':
    case 'loop':
      return { ...piece, piece: within(piece.piece) }
    case 'sequence':
      return { ...piece, pieces: piece.pieces.map(within) }
    case 'all':
    case 'race':
    case 'any':
      return { ...piece, branches: piece.branches.map(within) }
    default:
      return piece
  }
}
