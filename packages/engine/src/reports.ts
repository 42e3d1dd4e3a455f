// What a definition says of itself: how far it has come, and which artifacts it has made.
//
// Owns:  what was said and is not journaled yet.
// Asks:  the writer to journal it with the next commit.
// Never: makes a commit of its own, or journals again what a replayed definition says again.
import type { ArtifactReference } from '@holdfast/core'
import type { Barrier } from './barrier.ts'
import type { JournalWriter } from './journal-writer.ts'
import { showsProgress } from './journal-totals.ts'
import type { ProgressState } from './journal-totals.ts'
import { artifactKey } from './replay.ts'
import type { RunState } from './run-commit.ts'
import { artifactAdded } from './run-moves.ts'

/** The reports of one execution. */
export class Reports {
  readonly #writer: JournalWriter
  readonly #state: RunState
  readonly #barrier: Barrier
  readonly #artifacts = new Map<string, ArtifactReference>()
  #progress: ProgressState | undefined

  constructor(writer: JournalWriter, state: RunState, barrier: Barrier) {
    this.#writer = writer
    this.#state = state
    this.#barrier = barrier
  }

  progress(state: ProgressState): void {
    this.#progress = state
    if (this.#barrier.isLive) this.#journalProgress()
  }

  artifact(artifact: ArtifactReference): void {
    this.#artifacts.set(artifactKey(artifact), artifact)
    if (this.#barrier.isLive) this.#journalArtifacts()
  }

  /** An iteration is over: what was said of progress before it is in the journal, if it was to be. */
  iterationOver(): void {
    if (!this.#barrier.isLive) this.#progress = undefined
  }

  /** The code is known to fit: what it has said and the journal does not have is journaled. */
  live(): void {
    this.#journalProgress()
    this.#journalArtifacts()
  }

  #journalProgress(): void {
    const state = this.#progress
    if (state === undefined || showsProgress(this.#writer.totals, state)) return
    this.#writer.append(
      { kind: 'progress-made', at: this.#writer.time(), ...state },
      { canWait: true },
    )
  }

  #journalArtifacts(): void {
    for (const [key, artifact] of this.#artifacts) {
      this.#artifacts.delete(key)
      const { artifacts } = this.#state.record
      if (artifacts.some((known) => artifactKey(known) === key)) continue
      this.#writer.append(
        { kind: 'artifact-added', at: this.#writer.time(), artifact },
        { canWait: true, move: artifactAdded(artifact) },
      )
    }
  }
}
