import type { SeededRandom } from '../seeded-random.ts'
import type { Scenario } from '../stage.ts'
import { cancelOrder } from './cancel-order.ts'
import { counterByHost, counterByModel } from './counter.ts'
import { lookUp } from './look-up.ts'
import { largeRefund, smallRefund } from './refund.ts'
import { cancelledReport, report } from './report.ts'
import { sharedAnswer } from './shared-answer.ts'
import { steeredAnswer } from './steered-answer.ts'
import { stoppedAnswer } from './stopped-answer.ts'
import { supersededApproval } from './superseded-approval.ts'
import { textAnswer } from './text-answer.ts'

/** Every scenario, the rarer kinds of things more than once. */
const scenarios = [
  textAnswer,
  sharedAnswer,
  lookUp,
  cancelOrder,
  cancelOrder,
  smallRefund,
  largeRefund,
  largeRefund,
  counterByHost,
  counterByModel,
  report,
  cancelledReport,
  stoppedAnswer,
  steeredAnswer,
  steeredAnswer,
  supersededApproval,
] as const satisfies readonly Scenario[]

/** Deals scenarios without end; each comes up before one comes up again. */
export class Deck {
  readonly #random: SeededRandom
  #left: Scenario[] = []

  constructor(random: SeededRandom) {
    this.#random = random
  }

  deal(): Scenario {
    const next = this.#left.pop()
    if (next !== undefined) return next
    this.#left = this.#random.shuffled(scenarios)
    return this.deal()
  }
}
