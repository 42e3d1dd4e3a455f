// One crash run: the server, the browsers, the kills, and what is seen at the end.
//
// Owns:  the folder of the databases, the server, the time that everything may take.
// Never: ends before what was promised has been looked at, or leaves a server behind.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Browser } from './browser.ts'
import { Chat } from './chat.ts'
import type { CrashRecord } from './evidence.ts'
import { inspect } from './inspection.ts'
import type { Inspection } from './inspection.ts'
import { planKills } from './kill-plan.ts'
import { killAsPlanned } from './killer.ts'
import { Ledger } from './ledger.ts'
import { OrderTables } from './order-tables.ts'
import { Deck } from './scenarios/deck.ts'
import { seededRandom } from './seeded-random.ts'
import type { SeededRandom } from './seeded-random.ts'
import { freePort, ServerProcess } from './server-process.ts'
import { Turnstile } from './stage.ts'

/** What a crash run does. */
export interface CrashRunOptions {
  readonly kills: number
  readonly seed: number
}

/** What a crash run left. */
export interface CrashRun {
  readonly record: CrashRecord
  /** Holds the databases and what the server printed. */
  readonly folder: string
  /** Removes the folder. */
  readonly discard: () => void
}

const browserCount = 6
/** Things that one browser does at once. */
const lanesOfBrowser = 2
/** A person thinks before the next thing. Without it a fast machine would do more than can be looked at. */
const longestThoughtMs = 1_500
/** How long everything may take to end after the last kill. */
const graceMs = 120_000

/** Lets browsers work while the server is killed, and looks at what came of it. */
export async function crashRun({ kills, seed }: CrashRunOptions): Promise<CrashRun> {
  const startedAt = performance.now()
  const folder = mkdtempSync(join(tmpdir(), `holdfast-crash-${seed}-`))
  const random = seededRandom(seed)
  const plan = planKills(kills, random.fork())
  const ledger = new Ledger()
  const count = { kills: 0, inFlight: 0 }
  const deadline = new AbortController()
  const server = new ServerProcess({
    databasePath: join(folder, 'desk.db'),
    logPath: join(folder, 'server.log'),
    port: await freePort(),
    environment: {
      HOLDFAST_DEMO_DELAY_MS: '15',
      HOLDFAST_REPORT_PAUSE_MS: '120',
      // Written by the first life, which ends in peace; the others start faster for it.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
    },
  })
  let orders: OrderTables | undefined
  let inspection: Inspection = { runs: [], strayRuns: [], answers: [], chats: [] }
  try {
    server.launch()
    await server.answers()
    await stopInPeace(server, ledger)
    server.launch()
    await server.answers()
    orders = new OrderTables(join(folder, 'desk.orders.db'))
    const browsers = await openBrowsers(server.origin, ledger, random, deadline.signal)
    const play = { ledger, orders, isOver: () => count.kills >= kills }
    const lanes = browsers.flatMap((browser) => {
      const counterTurn = new Turnstile()
      return Array.from({ length: lanesOfBrowser }, (_, lane) =>
        playLane({ ...play, browser, counterTurn, lane, random: random.fork() }),
      )
    })
    const end = Promise.all(lanes)
    try {
      await killAsPlanned(server, plan, { ledger, orders }, count)
      await within(end, graceMs, () => server.assertAlive())
    } catch (error) {
      ledger.failures.push(String(error))
      deadline.abort(new Error('the crash run was given up'))
      await end
    }
    const witnesses = browsers.map((browser) => browser.withDeadline(new AbortController().signal))
    inspection = await inspect(ledger, witnesses)
    await stopInPeace(server, ledger)
  } catch (error) {
    ledger.failures.push(error instanceof Error ? (error.stack ?? String(error)) : String(error))
  } finally {
    await server.kill().catch(() => undefined)
  }
  const effects = orders?.effects() ?? []
  orders?.close()
  return {
    folder,
    record: {
      ...inspection,
      kills: count.kills,
      killsInFlight: count.inFlight,
      seconds: (performance.now() - startedAt) / 1000,
      reconnects: ledger.reconnects,
      inbox: ledger.inbox,
      expectedEffects: [...ledger.effects.values()],
      effects,
      interrupts: ledger.interrupts,
      failures: ledger.failures,
    },
    discard: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function stopInPeace(server: ServerProcess, ledger: Ledger): Promise<void> {
  const code = await server.stop()
  if (code !== 0) ledger.failures.push(`the server stopped with ${code}`)
}

async function openBrowsers(
  origin: string,
  ledger: Ledger,
  random: SeededRandom,
  deadline: AbortSignal,
): Promise<readonly Browser[]> {
  const browsers = Array.from(
    { length: browserCount },
    (_, number) => new Browser({ number, origin, ledger, random: random.fork(), deadline }),
  )
  await Promise.all(browsers.map(async (browser) => await browser.open()))
  return browsers
}

interface Lane {
  readonly ledger: Ledger
  readonly orders: OrderTables
  readonly browser: Browser
  readonly counterTurn: Turnstile
  readonly lane: number
  readonly random: SeededRandom
  readonly isOver: () => boolean
}

/** Plays one scenario after the other until the last kill has happened. Never rejects. */
async function playLane(input: Lane): Promise<void> {
  const { ledger, orders, browser, counterTurn, lane, random, isOver } = input
  const deck = new Deck(random)
  const chats: Chat[] = []
  for (let number = 1; !isOver(); number += 1) {
    await pause(random.between(0, longestThoughtMs))
    const scenario = deck.deal()
    const name = `${scenario.name} ${browser.number}.${lane}.${number}`
    const earlier = chats.length > 0 && random.next() < 0.4 ? random.pick(chats) : undefined
    const chat = earlier ?? new Chat(browser, name)
    try {
      await scenario({ name, browser, chat, orders, random, counterTurn })
      if (earlier === undefined) chats.push(chat)
      ledger.assertOver(name)
    } catch (error) {
      ledger.failures.push(`${name}: ${String(error)}`)
      if (browser.deadline.aborted) return
    }
  }
}

/** Waits for something, and looks every now and then whether it can still come. */
async function within(end: Promise<unknown>, limitMs: number, check: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const failure = new Promise<never>((_, reject) => {
    const until = performance.now() + limitMs
    timer = setInterval(() => {
      try {
        check()
        if (performance.now() > until) throw new Error(`not all ended within ${limitMs} ms`)
      } catch (error) {
        reject(error)
      }
    }, 100)
  })
  try {
    await Promise.race([end, failure])
  } finally {
    clearInterval(timer)
  }
}
