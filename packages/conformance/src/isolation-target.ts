/** Who asks: whose the things are, a session that has things of its own, or somebody without one. */
export type IsolationActor = 'owner' | 'stranger' | 'nobody'

/** Ids by what they name. */
export type IsolationIds = Readonly<Record<string, string>>

/** One way to reach something: a tool, a route, a stream. */
export interface IsolationProbe {
  readonly name: string
  /**
   * `by-id` (default): the answer must be the one for what does not exist. `list`: it takes no id, and
   * must name nothing of the owner's.
   */
  readonly kind?: 'by-id' | 'list'
  /**
   * Asks, and tells all that the asker learns: status, headers, body, error with code and details. Leave
   * out what differs from call to call, such as a date.
   */
  ask(actor: IsolationActor, ids: IsolationIds): Promise<string>
}

/** What the owner has, and every way to reach it. */
export interface IsolationWorld {
  /** Ids of what the owner has. */
  readonly owned: IsolationIds
  /** Ids of the same names, equally long, that nobody has. */
  readonly missing: IsolationIds
  /** Words of the owner's things that nobody else may ever see. */
  readonly secrets: readonly string[]
  readonly probes: readonly IsolationProbe[]
  /** The owner's things as they are stored: asked before and after, to prove that nothing was changed. */
  state(): Promise<string>
  close?(): Promise<void>
}

/** What {@link describeIsolation} needs: a fresh world each time. */
export type MakeIsolationTarget = () => IsolationWorld | Promise<IsolationWorld>
