import type { Commit, SessionId, Store, System } from '@holdfast/core'

/** What goes wrong with one commit. */
export type FaultKind =
  /** Nothing is written; `store_unavailable`, which may be tried again. */
  | 'fail-before'
  /** It is written, and its acknowledgement is lost: its caller is told `store_outcome_unknown`. */
  | 'fail-after'
  /** It is written; its caller never hears of it, until the store closes. */
  | 'lose-acknowledgement'
  /** It is written at once; its caller hears of it later. */
  | 'late-acknowledgement'
  /** It is held, with what is asked of its session meanwhile; other sessions overtake it. */
  | 'delay'
  /** Another claim takes the session first: its fence, and all later ones of that claim, fail. */
  | 'take-session'
  /** Once it is written, the node is told that its lease is lost. */
  | 'lose-node'
  /** The store closes instead: this commit and every later call fail with `store_closed`. */
  | 'close-store'
  /** Every watch that is open ends with `store_unavailable`, and so does not tell of it; then it is written. */
  | 'tear-watches'
  /** As `tear-watches`, but without an error, as if its reader had aborted it. No store does this by itself. */
  | 'end-watches'
  /** Every watch that is open fires without a reason; then it is written. */
  | 'fire-watches'
  /** It is written; what watches have to tell from here on, they tell later. */
  | 'hold-watches'
  /** The process dies, and nothing is written: `crash` is called. */
  | 'crash-before'
  /** The process dies once it is written, and never learns of it: `crash` is called. */
  | 'crash-after'

/** What goes wrong with one call that is not a commit. */
export type CallFaultKind =
  /** `store_unavailable`. */
  | 'fail-call'
  /** It is made at once, and its answer arrives later: of what was so when it was asked. */
  | 'delay-call'

/** The calls that count as calls: reads, and those of ownership. */
export type StoreCall = Exclude<keyof Store, 'commit' | 'watch' | 'close' | 'node'>

/** One fault. Commits and calls are counted apart, each from 1, in the order of asking. */
export type Fault =
  | {
      /** The number of the commit. */
      readonly commit: number
      readonly kind: FaultKind
      /** How long `delay`, `late-acknowledgement` and `hold-watches` last. Milliseconds. */
      readonly ms?: number
    }
  | {
      /** The number of the call. */
      readonly call: number
      readonly kind: CallFaultKind
      /** How long `delay-call` lasts. Milliseconds. */
      readonly ms?: number
    }

/** Faults for whatever fits, at most `times` times. Default: every time. */
export type FaultRule =
  | {
      readonly kind: FaultKind
      readonly commits: (commit: Commit) => boolean
      readonly times?: number
    }
  | {
      readonly kind: CallFaultKind
      readonly calls: (call: StoreCall) => boolean
      readonly times?: number
    }

/** What faults need to be carried out. */
export interface FaultMeans {
  /** How long a fault that lasts does, unless it says so itself. Milliseconds. Default 20. */
  readonly delayMs?: number
  /** For what lasts. Default: the real one. */
  readonly system?: System
  /** How another node takes a session. Default: this one claims it anew, which fences as well. */
  readonly takeSession?: (sessionId: SessionId) => Promise<unknown>
  /** Ends the process under test at once. Needed for `crash-before` and `crash-after`. */
  readonly crash?: () => void
}

/** Faults at random commits and calls: each has one with this probability, of those kinds that fit it. */
export interface RandomFaults {
  readonly seed: number
  /** 0 to 1. */
  readonly rate: number
  readonly kinds: readonly (FaultKind | CallFaultKind)[]
}

/** Which faults happen: those named, else those of the first rule that fits, else random ones. */
export interface FaultPlan extends FaultMeans {
  readonly faults?: readonly Fault[]
  readonly rules?: readonly FaultRule[]
  readonly random?: RandomFaults
}
