// A world whose store fails as a test says, at commits of one session's runs.
import type { AnyWorkflowDefinition, Commit, Store } from '@holdfast/core'
import { createWorld, sessionId, startNode } from '../harness.ts'
import type { Node, NodeOptions, World } from '../harness.ts'

/** What becomes of a commit: thrown before it is written, or after; `undefined`: it is as it is. */
export type Fault =
  | {
      readonly when: 'before' | 'after'
      readonly error: Error
      /** Called at that moment: the process dies of it. */
      readonly dies?: () => void
    }
  | undefined

export interface FailingWorld extends World {
  /** Commits that the first nodes' stores were asked for, oldest first. */
  readonly commits: readonly Commit[]
}

/** Makes a world where `fault` is asked at each commit; `count` is 1 for the first. */
export function createFailingWorld(fault: (commit: Commit, count: number) => Fault): FailingWorld {
  const world = createWorld()
  const commits: Commit[] = []
  const database = {
    kill: (node: string) => world.database.kill(node),
    expireLease: (node: string) => world.database.expireLease(node),
    open(opened?: { readonly node?: string }): Store {
      const store = world.database.open(opened)
      return {
        ...store,
        async commit(commit) {
          if (commit.sessionId !== sessionId) return store.commit(commit)
          commits.push(commit)
          const due = fault(commit, commits.length)
          if (due?.when === 'before') due.dies?.()
          if (due?.when === 'before') throw due.error
          const receipt = await store.commit(commit)
          if (due?.when === 'after') due.dies?.()
          if (due?.when === 'after') throw due.error
          return receipt
        },
      }
    },
  }
  return {
    ...world,
    commits,
    engine: (definitions: readonly AnyWorkflowDefinition[], options: NodeOptions = {}): Node =>
      startNode(
        { database: { ...world.database, ...database }, system: world.system, log: world.log },
        definitions,
        options,
      ),
  }
}
