import { setTimeout as pause } from 'node:timers/promises'
import type { Aim, PlannedKill } from './kill-plan.ts'
import type { Ledger } from './ledger.ts'
import type { OrderTables } from './order-tables.ts'
import type { ServerProcess } from './server-process.ts'

/** What the kills came to. */
export interface KillCount {
  kills: number
  /** Those that hit an acknowledged run which had not ended and waited for nobody. */
  inFlight: number
}

/** How long a kill waits for work to hit. */
const patienceMs = 2_000
/** How long it waits for what it is aimed at. */
const longestAimMs = 2_000
/** How long the work may take to move: far more than a step takes, unless the machine is overloaded. */
const longestMoveMs = 20_000

/** What can be aimed at. */
interface Targets {
  readonly ledger: Ledger
  readonly orders: OrderTables
}

/**
 * Kills the server as planned, and starts it again at once each time. It has been launched before.
 * Resolves once it answers after the last kill; counts as it goes.
 *
 * @throws when the server ends though nobody killed it
 */
export async function killAsPlanned(
  server: ServerProcess,
  plan: readonly PlannedKill[],
  { ledger, orders }: Targets,
  count: KillCount,
): Promise<void> {
  for (const planned of plan) {
    if (planned.kind === 'while-starting') {
      await pause(planned.afterMs)
    } else {
      await server.answers()
      if (planned.letsAllMove) await ledger.allMove(longestMoveMs)
      await pause(planned.afterMs)
      await takeAim(planned.aim, { ledger, orders })
    }
    for (let waited = 0; ledger.inFlight() === 0 && waited < patienceMs; waited += 5) {
      await pause(5)
    }
    count.kills += 1
    if (ledger.inFlight() > 0) count.inFlight += 1
    await server.kill()
    server.launch()
  }
  await server.answers()
}

async function takeAim(aim: Aim, { ledger, orders }: Targets): Promise<void> {
  switch (aim.kind) {
    case 'nothing':
      return
    case 'effect':
      await orders.nextEffect(longestAimMs)
      return
    case 'moment':
      await ledger.moments.next(aim.moment, longestAimMs)
      if (aim.laterMs > 0) await pause(aim.laterMs)
  }
}
