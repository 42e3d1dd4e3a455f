/** What an engine can do; what one cannot is named here, and the conformance suite is keyed by it. */
export interface EngineCapabilities {
  readonly name: string
  /** Executes with the replay rules in any order of completion, not by position only. */
  readonly matchesByKey: boolean
  readonly stepOutput: boolean
  readonly cleanupAfterCancel: boolean
  readonly manyProcesses: boolean
}
