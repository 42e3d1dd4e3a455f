// A fleet: several processes on one database, requests to any of them, some killed and some frozen.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { sessionIdFor } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { system } from '@holdfast/core/system'
import { postgresUrl } from '@holdfast/postgres-server/postgres-url'
import { createSeededRandom } from '@holdfast/testing'
import { decodeEntries } from '@holdfast/workflow'
import { expect } from 'vitest'
import { crashStores } from './crash-stores.ts'
import type { CrashStoreName } from './crash-stores.ts'

const script = fileURLToPath(new URL('./fixtures/fleet-process.ts', import.meta.url))

/** What a process is asked for. */
export type FleetRequest = {
  readonly number: number
  readonly sessionId: string
  readonly runId: string
} & (
  | { readonly kind: 'start' }
  | { readonly kind: 'resume'; readonly interruptId: string }
  | { readonly kind: 'send' }
)

/** What it answers; number 0: it is there. */
export interface FleetAnswer {
  readonly number: number
  readonly code?: string
}

/** A line of the fleet's diary. Times are of the machine's one clock. */
export type DiaryLine =
  | {
      readonly kind: 'written' | 'refused'
      readonly sessionId: string
      readonly epoch: number
      readonly askedAt: number
    }
  | {
      readonly kind: 'claimed'
      readonly sessionId: string
      readonly epoch: number
      readonly at: number
    }
  | { readonly kind: 'effect'; readonly key: string }

export interface FleetPlan {
  readonly store: CrashStoreName
  readonly seed: number
  readonly runs: number
  readonly sessions: number
  /** One letter a process: owner or client. */
  readonly modes: readonly ('owner' | 'client')[]
  readonly kills: number
  /** Each longer than a lease. */
  readonly freezes: number
}

export interface FleetReport {
  readonly kills: number
  readonly freezes: number
  /** How many writes of an owner that was overtaken were refused. */
  readonly refused: number
  /** How many requests were asked again: their process had died, or did not know. */
  readonly repeated: number
}

type Ask = FleetRequest extends infer Request
  ? Request extends FleetRequest
    ? Omit<Request, 'number'>
    : never
  : never

/** Codes of requests that are asked again, of another process perhaps. */
const passing = new Set([
  'store_unavailable',
  'store_outcome_unknown',
  'store_closed',
  'draining',
  'gone',
])

/** Codes that say that an earlier request, whose answer was lost, was carried out. */
const done = new Set([
  'interrupt_answered',
  'run_not_interrupted',
  'interrupt_not_found',
  'run_ended',
])

/** Longer than a lease of {@link crashStores}, and less than a request's patience. Milliseconds. */
const freezeMs = 2_500

/** Runs the plan to its end and checks that nothing was lost, doubled or written by who was overtaken. */
export async function runFleet(plan: FleetPlan): Promise<FleetReport> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-fleet-'))
  const database = await crashStores[plan.store].create(postgresUrl())
  const fleet = new Fleet(plan, database.location, join(directory, 'diary.jsonl'))
  let reader: Store | undefined
  try {
    await fleet.begin()
    reader = await crashStores[plan.store].open(database.location, 'client')
    const chaos = fleet.disturb()
    await Promise.all(
      Array.from({ length: plan.runs }, (_, index) => fleet.lead(index, reader as Store)),
    )
    await chaos
    await expectIntact(reader, fleet)
    return { ...fleet.report, ...checkDiary(fleet.diary()) }
  } finally {
    fleet.end()
    await reader?.close()
    await database.destroy()
    rmSync(directory, { recursive: true, force: true })
  }
}

class Fleet {
  readonly plan: FleetPlan
  readonly runIds: readonly string[]
  readonly report = { kills: 0, freezes: 0, repeated: 0 }
  readonly #location: string
  readonly #diaryPath: string
  readonly #random: ReturnType<typeof createSeededRandom>
  readonly #members: Member[] = []
  #ended = false

  constructor(plan: FleetPlan, location: string, diaryPath: string) {
    this.plan = plan
    this.#location = location
    this.#diaryPath = diaryPath
    this.#random = createSeededRandom(plan.seed)
    this.runIds = Array.from({ length: plan.runs }, () => system.runId())
  }

  async begin(): Promise<void> {
    for (const mode of this.plan.modes) this.#members.push(await this.#spawn(mode))
  }

  sessionOf(index: number): string {
    return sessionIdFor(`fleet ${index % this.plan.sessions}`)
  }

  /** Leads one run to its end: starts it, answers it, sends to it, each through any process. */
  async lead(index: number, reader: Store): Promise<void> {
    const sessionId = this.sessionOf(index)
    const runId = this.runIds[index] ?? ''
    await pause(this.#random.below(2_000))
    await this.#request({ kind: 'start', sessionId, runId })
    let answered = false
    let sent = false
    for await (const _ of reader.watch({ kind: 'run', sessionId, runId }, this.#signal())) {
      const run = await reader.run(sessionId, runId).catch(() => undefined)
      if (run?.record.endedAt !== undefined) break
      const question = run?.record.interrupts[0]
      if (!answered && question !== undefined) {
        await this.#request({ kind: 'resume', sessionId, runId, interruptId: question.id })
        answered = true
      }
      if (answered && !sent) {
        await this.#request({ kind: 'send', sessionId, runId })
        sent = true
      }
    }
  }

  /** Kills and freezes, spread over the time in which runs are under way. */
  async disturb(): Promise<void> {
    const { kills, freezes } = this.plan
    const deeds = [...Array(kills).fill('kill'), ...Array(freezes).fill('freeze')] as (
      | 'kill'
      | 'freeze'
    )[]
    for (let left = deeds.length; left > 0; left -= 1) {
      const [deed] = deeds.splice(this.#random.below(deeds.length), 1)
      await pause(150 + this.#random.below(500))
      const index = this.#random.below(this.#members.length)
      const member = this.#members[index]
      if (member === undefined) continue
      if (deed === 'kill') {
        member.kill()
        await member.gone
        this.#members[index] = await this.#spawn(member.mode)
        this.report.kills += 1
      } else {
        member.child.kill('SIGSTOP')
        await pause(freezeMs)
        member.child.kill('SIGCONT')
        this.report.freezes += 1
      }
    }
  }

  diary(): readonly DiaryLine[] {
    const lines = readFileSync(this.#diaryPath, 'utf8').split('\n').filter(Boolean)
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as DiaryLine]
      } catch {
        // A process was killed while it wrote.
        return []
      }
    })
  }

  end(): void {
    this.#ended = true
    for (const member of this.#members) member.kill()
  }

  #signal(): AbortSignal {
    return new AbortController().signal
  }

  async #request(ask: Ask): Promise<void> {
    for (;;) {
      if (this.#ended) throw new Error('The fleet has ended.')
      const member = this.#members[this.#random.below(this.#members.length)]
      const code = await (member?.ask(ask) ?? Promise.resolve('gone'))
      if (code === undefined || done.has(code)) return
      if (!passing.has(code)) throw new Error(`${ask.kind} was refused: ${code}`)
      this.report.repeated += 1
      await pause(20)
    }
  }

  async #spawn(mode: 'owner' | 'client'): Promise<Member> {
    const child = fork(script, [this.plan.store, this.#location, this.#diaryPath, mode], {
      execArgv: ['--conditions=@holdfast/source'],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const member = new Member(child, mode)
    await member.there
    return member
  }
}

class Member {
  readonly child: ChildProcess
  readonly mode: 'owner' | 'client'
  readonly there: Promise<void>
  readonly gone: Promise<void>
  readonly #waiting = new Map<number, (code: string | undefined) => void>()
  #number = 0

  constructor(child: ChildProcess, mode: 'owner' | 'client') {
    this.child = child
    this.mode = mode
    let arrived: () => void = () => undefined
    let failed: (error: Error) => void = () => undefined
    this.there = new Promise((resolve, reject) => {
      arrived = resolve
      failed = reject
    })
    this.gone = new Promise((resolve) => {
      child.on('exit', (code) => {
        failed(new Error(`a process ended with ${String(code)} before it was there`))
        for (const settle of this.#waiting.values()) settle('gone')
        this.#waiting.clear()
        resolve()
      })
    })
    child.on('message', ({ number, code }: FleetAnswer) => {
      if (number === 0) arrived()
      this.#waiting.get(number)?.(code)
      this.#waiting.delete(number)
    })
    child.on('error', () => undefined)
  }

  /** Resolves with the code of what was refused, `gone` when there is no answer to come. */
  ask(ask: Ask): Promise<string | undefined> {
    if (!this.child.connected) return Promise.resolve('gone')
    this.#number += 1
    const number = this.#number
    return new Promise((resolve) => {
      this.#waiting.set(number, resolve)
      this.child.send({ ...ask, number }, (error) => {
        if (error === null) return
        this.#waiting.delete(number)
        resolve('gone')
      })
    })
  }

  kill(): void {
    this.child.kill('SIGCONT')
    this.child.kill('SIGKILL')
  }
}

/** Each run has ended with what it was given, its journal has no hole, and nothing is there twice. */
async function expectIntact(reader: Store, fleet: Fleet): Promise<void> {
  for (const [index, runId] of fleet.runIds.entries()) {
    const sessionId = fleet.sessionOf(index)
    const run = await reader.run(sessionId, runId)
    expect(run?.record.status).toBe('completed')
    expect(run?.unread).toEqual([])
    const rows = await reader.journal(sessionId, runId, { from: 0, limit: 1_000 })
    expect(rows.map(({ revision }) => revision)).toEqual(rows.map((_, number) => number))
    const entries = rows.flatMap((row) => decodeEntries(row).entries)
    expect(entries.at(-1)).toMatchObject({
      kind: 'run-ended',
      output: {
        json: { first: 'first', answer: { value: runId }, message: runId, steps: 3 },
      },
    })
    const settled = entries.flatMap((entry) =>
      entry.kind === 'step-completed' ? [entry.path] : [],
    )
    expect(settled).toEqual([...new Set(settled)])
    expect(entries.filter(({ kind }) => kind === 'message-arrived')).toHaveLength(1)
    expect(entries.filter(({ kind }) => kind === 'run-ended')).toHaveLength(1)
  }
}

/** No write that was asked for after another process had claimed its session went through. */
function checkDiary(diary: readonly DiaryLine[]): { readonly refused: number } {
  const claims = diary.filter((line) => line.kind === 'claimed')
  const late = diary.filter(
    (line) =>
      line.kind === 'written' &&
      claims.some(
        ({ sessionId, epoch, at }) =>
          sessionId === line.sessionId && epoch > line.epoch && at < line.askedAt,
      ),
  )
  expect(late).toEqual([])
  return { refused: diary.filter(({ kind }) => kind === 'refused').length }
}
