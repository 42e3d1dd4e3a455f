// Which live processes over the same store have code for which runs.
//
// Owns:  this process's place: a session of its own that it has claimed, with a document that says what
//        it has code for.
// Asks:  the store to claim, and so to say who lives: a place that cannot be claimed has a live node.
// Never: keeps a clock, or a heartbeat of its own; a place lives as long as its node's lease.
//
// N1. A place is claimed before its document is written, under its fence: what a live node's place says
//     is what that node has.
// N2. Places are numbered from 0 and used again, so that there are never more than there were nodes at once.
import { ErrorCode, hasErrorCode, sessionIdFor } from '@holdfast/core'
import type { SessionClaim } from '@holdfast/core'
import type { Services } from './options.ts'

const places = 256
const collection = 'engine'
const key = 'node'
/** A document's room: so many digests are told; a node with more is not found for the rest. */
const digestsTold = 900

/** The nodes of one store, as one engine sees them. */
export class Nodes {
  readonly #services: Services
  #claim: SessionClaim | undefined
  #registering: Promise<void> | undefined

  constructor(services: Services) {
    this.#services = services
  }

  /** Takes a place and says what this process has code for. Trouble is logged, and costs only hand-overs. */
  register(): Promise<void> {
    this.#registering ??= this.#register().catch((cause: unknown) => {
      if (hasErrorCode(cause, ErrorCode.storeClosed)) return
      this.#services.log.write({
        level: 'warn',
        event: 'engine.node.not_registered',
        message: 'Other processes cannot hand runs over to this one.',
        cause,
      })
    })
    return this.#registering
  }

  /** Gives the place back: nothing is handed over to this process any more. */
  async withdraw(): Promise<void> {
    await this.#registering
    const claim = this.#claim
    this.#claim = undefined
    if (claim === undefined) return
    try {
      await this.#services.store.releaseSession(claim)
    } catch {
      // Its lease ends with the process.
    }
  }

  /** Whether another live process has code for all of these digests. */
  async hasOtherWith(digests: ReadonlySet<string>): Promise<boolean> {
    for (let place = 0; place < places; place += 1) {
      const sessionId = placeOf(place)
      if (sessionId === this.#claim?.sessionId) continue
      const document = await this.#services.store.document(sessionId, collection, key)
      if (document === undefined) return false
      const told = new Set(digestsIn(document.value))
      const covers = [...digests].every((digest) => told.has(digest))
      if (covers && (await this.#isTaken(sessionId))) return true
    }
    return false
  }

  async #register(): Promise<void> {
    const { store, catalog } = this.#services
    const digests = catalog.list().map(({ digest }) => digest)
    for (let place = 0; place < places; place += 1) {
      const claim = await this.#tryToClaim(placeOf(place))
      if (claim === undefined) continue
      const { sessionId, epoch } = claim
      this.#claim = claim
      const before = await store.document(sessionId, collection, key)
      const value = JSON.stringify({ digests: digests.slice(0, digestsTold) })
      if (before?.value === value) return
      await store.commit({
        sessionId,
        fence: { epoch },
        writes: [
          {
            kind: 'document-put',
            collection,
            key,
            expectedRevision: before?.revision ?? 0,
            value,
          },
        ],
      })
      return
    }
  }

  async #isTaken(sessionId: string): Promise<boolean> {
    const claim = await this.#tryToClaim(sessionId)
    if (claim === undefined) return true
    await this.#services.store.releaseSession(claim)
    return false
  }

  async #tryToClaim(sessionId: string): Promise<SessionClaim | undefined> {
    try {
      return await this.#services.store.claimSession(sessionId)
    } catch (error) {
      if (hasErrorCode(error, ErrorCode.storeOwned)) return undefined
      throw error
    }
  }
}

function placeOf(place: number): string {
  return sessionIdFor(`holdfast engine node ${place}`)
}

function digestsIn(text: string): readonly string[] {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || !('digests' in value)) return []
  const { digests } = value
  return Array.isArray(digests) ? digests.filter((digest) => typeof digest === 'string') : []
}
