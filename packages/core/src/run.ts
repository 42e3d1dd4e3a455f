import Type, { type Static } from 'typebox'
import { RunId, SessionId } from './ids.ts'
import { Limits } from './limits.ts'

/** The states of a run. The last three are terminal. */
export const RunStatus = Type.Union([
  Type.Literal('pending'),
  Type.Literal('running'),
  Type.Literal('interrupted'),
  Type.Literal('completed'),
  Type.Literal('cancelled'),
  Type.Literal('failed'),
])
export type RunStatus = Static<typeof RunStatus>

/** Why a `running` run executes nothing at the moment. `code`: no definition here fits its journal. */
export const WaitingFor = Type.Union([
  Type.Literal('sleep'),
  Type.Literal('message'),
  Type.Literal('child'),
  Type.Literal('retry'),
  Type.Literal('code'),
])
export type WaitingFor = Static<typeof WaitingFor>

/** Who may answer an interrupt. A model can never answer a person's. */
export const AnswerBy = Type.Union([Type.Literal('person'), Type.Literal('anyone')])
export type AnswerBy = Static<typeof AnswerBy>

/**
 * A question that a run has put and nobody's answer to which has been journaled.
 *
 * `schema` and `payload` are absent when the record would grow over its limit; the journal's
 * entry at `revision` has them whole.
 */
export const OpenInterrupt = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 64 }),
    key: Type.String({ maxLength: 512 }),
    revision: Type.Integer({ minimum: 0 }),
    answer: AnswerBy,
    reason: Type.Optional(Type.String({ maxLength: 1_024 })),
    schema: Type.Optional(Type.Unsafe<object>(Type.Object({}, { additionalProperties: true }))),
    payload: Type.Optional(Type.Unknown()),
    openedAt: Type.Number(),
  },
  { additionalProperties: false },
)
export type OpenInterrupt = Static<typeof OpenInterrupt>

/** Refers to bytes that the application owns. */
export const ArtifactReference = Type.Object(
  {
    id: Type.String({ minLength: 1, maxLength: 128 }),
    kind: Type.String({ minLength: 1, maxLength: 128 }),
    digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    size: Type.Integer({ minimum: 0 }),
  },
  { additionalProperties: false },
)
export type ArtifactReference = Static<typeof ArtifactReference>

/** Where a run's artifacts live, and where its input artifacts come from. Fixed at creation. */
export const ArtifactNamespace = Type.Object(
  {
    sessionId: SessionId,
    runId: RunId,
    inputKind: Type.Optional(Type.Union([Type.Literal('bootstrap'), Type.Literal('parent')])),
    inputSessionId: Type.Optional(SessionId),
    inputRunId: Type.Optional(RunId),
  },
  { additionalProperties: false },
)
export type ArtifactNamespace = Static<typeof ArtifactNamespace>

/** Why a run failed, safe to show. */
export const RunError = Type.Object(
  { code: Type.String(), message: Type.String(), retryable: Type.Boolean() },
  { additionalProperties: false },
)
export type RunError = Static<typeof RunError>

/** The version of {@link RunRecord} that this release writes. */
export const runRecordVersion = 1

/**
 * A run's row: identity, references and status; never input, state or output.
 *
 * Identity (session, id, definition, parents, input, namespace, createdAt) never changes. The row
 * is swapped on a status change, an interrupt, a park, a checkpoint and a claim, and only there;
 * how far the journal has come is read from its head. Times are milliseconds since the epoch.
 */
export const RunRecord = Type.Object(
  {
    version: Type.Literal(runRecordVersion),
    id: RunId,
    sessionId: SessionId,
    definition: Type.Object(
      { name: Type.String(), version: Type.String(), digest: Type.String() },
      { additionalProperties: false },
    ),
    /** Shown in the tree; gives no rights and cascades nothing. */
    parentRunId: Type.Optional(RunId),
    /** Set when a run was started by `ctx.child`: cancel cascades to it, its end is told to the parent. */
    childOf: Type.Optional(RunId),
    retriedFrom: Type.Optional(RunId),
    /** The digest of the definition that its journal was migrated to; absent: `definition.digest` still holds. */
    migratedTo: Type.Optional(Type.String()),
    executionId: Type.Optional(Type.String()),
    input: Type.Object(
      {
        digest: Type.String({ pattern: '^[0-9a-f]{64}$' }),
        size: Type.Integer({ minimum: 1, maximum: Limits.inputBytes }),
      },
      { additionalProperties: false },
    ),
    artifactNamespace: ArtifactNamespace,
    status: RunStatus,
    statusSummary: Type.Optional(Type.String()),
    waitingFor: Type.Optional(WaitingFor),
    /** True while nothing needs to execute before `wakeAt`, an inbox entry or a new definition. */
    parked: Type.Boolean(),
    wakeAt: Type.Optional(Type.Number()),
    cancelRequested: Type.Optional(Type.Boolean()),
    interrupts: Type.Array(OpenInterrupt, { maxItems: Limits.openInterrupts }),
    artifacts: Type.Array(ArtifactReference, { maxItems: Limits.runArtifacts }),
    /** How many of the run's streams are closed; the open one, if any, is number `stream + 1`. */
    stream: Type.Integer({ minimum: 0 }),
    /** Inbox entries with a sequence below this have been journaled. May lag while running. */
    inboxReadThrough: Type.Integer({ minimum: 0 }),
    /** Takeovers of the run while it held a slot, since its last new journal entry. */
    recoveries: Type.Integer({ minimum: 0 }),
    /** The journal's next revision at the newest takeover: a longer journal makes `recoveries` begin anew. */
    recoveredAt: Type.Optional(Type.Integer({ minimum: 0 })),
    /** The journal revision of the newest loop checkpoint, if there is one. */
    checkpoint: Type.Optional(Type.Integer({ minimum: 0 })),
    error: Type.Optional(RunError),
    createdAt: Type.Number(),
    updatedAt: Type.Number(),
    endedAt: Type.Optional(Type.Number()),
  },
  { additionalProperties: false },
)
export type RunRecord = Static<typeof RunRecord>
