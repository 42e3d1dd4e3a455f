// Which fault happens to which commit and which call.
//
// G1. The same plan, asked in the same order, gives the same faults.
// G2. Random numbers are drawn for every commit and every call, from a generator each: a fault that a
//     plan names, or a call more, shifts no later one.
import { configurationInvalid } from '@holdfast/core'
import type { Commit } from '@holdfast/core'
import type { CallFaultKind, Fault, FaultKind, FaultPlan, FaultRule, StoreCall } from './faults.ts'
import { createSeededRandom } from './seeded-random.ts'

const callKinds: ReadonlySet<string> = new Set<CallFaultKind>(['fail-call', 'delay-call'])
const lastingKinds: ReadonlySet<string> = new Set<FaultKind | CallFaultKind>([
  'delay',
  'late-acknowledgement',
  'hold-watches',
  'delay-call',
])

/** A fault as it is carried out: one that lasts says how long. */
export type CommitFault = Extract<Fault, { readonly commit: number }>
export type CallFault = Extract<Fault, { readonly call: number }>

/** Gives each commit and each call its fault. */
export interface FaultSource {
  ofCommit(number: number, commit: Commit): CommitFault | undefined
  ofCall(number: number, call: StoreCall): CallFault | undefined
}

/** Makes the source of a plan. @throws `configuration_invalid` */
export function faultSource(plan: FaultPlan): FaultSource {
  const { faults = [], rules = [], random, delayMs = 20 } = plan
  checkPlan(plan)
  const commits = new Map<number, CommitFault>()
  const calls = new Map<number, CallFault>()
  for (const fault of faults) {
    if ('commit' in fault) commits.set(fault.commit, fault)
    else calls.set(fault.call, fault)
  }
  const left = new Map(rules.map((rule) => [rule, rule.times ?? Number.POSITIVE_INFINITY]))
  const drawCommit = drawing(random, random?.kinds.filter(isCommitKind) ?? [], 0)
  const drawCall = drawing(random, random?.kinds.filter(isCallKind) ?? [], 0x5eed)

  const take = <Rule extends FaultRule>(rule: Rule | undefined): Rule['kind'] | undefined => {
    if (rule !== undefined) left.set(rule, (left.get(rule) ?? 0) - 1)
    return rule?.kind
  }
  const isLeft = (rule: FaultRule): boolean => (left.get(rule) ?? 0) > 0
  const lasting = (kind: FaultKind | CallFaultKind, ms = delayMs): { readonly ms?: number } =>
    lastingKinds.has(kind) ? { ms } : {}

  return {
    ofCommit(number, commit) {
      const drawn = drawCommit()
      const named = commits.get(number)
      if (named !== undefined) return { ...named, ...lasting(named.kind, named.ms) }
      const kind =
        take(rules.filter(isCommitRule).find((rule) => isLeft(rule) && rule.commits(commit))) ??
        drawn
      return kind === undefined ? undefined : { commit: number, kind, ...lasting(kind) }
    },
    ofCall(number, call) {
      const drawn = drawCall()
      const named = calls.get(number)
      if (named !== undefined) return { ...named, ...lasting(named.kind, named.ms) }
      const kind =
        take(rules.filter(isCallRule).find((rule) => isLeft(rule) && rule.calls(call))) ?? drawn
      return kind === undefined ? undefined : { call: number, kind, ...lasting(kind) }
    },
  }
}

function checkPlan({ faults = [], rules = [], random, crash, delayMs = 20 }: FaultPlan): void {
  if (random !== undefined && !(random.rate >= 0 && random.rate <= 1)) {
    throw configurationInvalid('Option random.rate must be from 0 to 1.')
  }
  if (!(delayMs >= 0)) throw configurationInvalid('Option delayMs must not be below 0.')
  const kinds = [...faults, ...rules].map(({ kind }) => kind).concat(random?.kinds ?? [])
  if (crash === undefined && kinds.some((kind) => kind.startsWith('crash-'))) {
    throw configurationInvalid('Option crash must say how the process under test dies.')
  }
}

function drawing<Kind>(
  random: FaultPlan['random'],
  kinds: readonly Kind[],
  salt: number,
): () => Kind | undefined {
  if (random === undefined) return () => undefined
  const numbers = createSeededRandom(random.seed ^ salt)
  return () => {
    // Both are drawn every time: see G2.
    const hits = numbers.next() < random.rate
    const kind = kinds[numbers.below(kinds.length)]
    return hits ? kind : undefined
  }
}

function isCallKind(kind: FaultKind | CallFaultKind): kind is CallFaultKind {
  return callKinds.has(kind)
}

function isCommitKind(kind: FaultKind | CallFaultKind): kind is FaultKind {
  return !callKinds.has(kind)
}

function isCommitRule(rule: FaultRule): rule is Extract<FaultRule, { readonly commits: unknown }> {
  return 'commits' in rule
}

function isCallRule(rule: FaultRule): rule is Extract<FaultRule, { readonly calls: unknown }> {
  return 'calls' in rule
}
