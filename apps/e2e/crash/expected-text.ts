import type { TestOrder } from './order-tables.ts'

/** What the demo model counts. */
export function countText(to: number): string {
  return Array.from({ length: to }, (_, index) => String(index + 1)).join(' ')
}

/** What it says of an order that is open. */
export function lookUpText({ id, item, total }: TestOrder): string {
  return `Let me look that up. Order ${id}: ${item}, ${total} EUR, open.`
}

/** What it says before it cancels an order. */
export function cancelIntro({ id }: TestOrder): string {
  return `I will cancel order ${id}, if you approve. `
}

/** What it says of a refund that it started. */
export function refundText({ id }: TestOrder, runId: string): string {
  return `I started the refund of order ${id} as run ${runId}. Above 100 EUR it waits for a person's yes, on the card beside this chat.`
}

/** What it says of a report that it started. */
export function reportText(topic: string, runId: string): string {
  return `I started a report on ${topic} as run ${runId}. It shows its progress beside this chat.`
}

/** What it says of a counter that it started. */
export function counterText(runId: string): string {
  return `The counter runs as ${runId} and asks by how much to go on.`
}

/** What a report run gives. */
export function reportOutput(topic: string): unknown {
  const sources = ['atlas', 'almanac', 'logbook'].map((name) => `The ${name} speaks of ${topic}.`)
  const text = [`What ${topic} is`, 'Why it matters', ...sources].join(' ')
  return { topic, report: `${topic}: ${text}`, words: text.split(' ').length }
}
