import Type, { type Static } from 'typebox'
import { recordCodec } from './record-codec.ts'

const Metadata = Type.Optional(Type.Record(Type.String(), Type.Object({})))
const Tokens = Type.Optional(Type.Number())

/** Where a recorded file's bytes are: base64 text, or a URL. */
const FileData = Type.Union([
  Type.Object({ type: Type.Literal('data'), data: Type.String() }, { additionalProperties: false }),
  Type.Object({ type: Type.Literal('url'), url: Type.String() }, { additionalProperties: false }),
])

function textOf<const Kind extends string>(kind: Kind) {
  return Type.Object(
    {
      type: Type.Literal(kind),
      id: Type.String(),
      text: Type.String(),
      citations: Type.Optional(Type.Array(Type.Object({}))),
      providerMetadata: Metadata,
    },
    { additionalProperties: false },
  )
}

function fileOf<const Kind extends string>(kind: Kind) {
  return Type.Object(
    {
      type: Type.Literal(kind),
      mediaType: Type.String(),
      data: FileData,
      providerMetadata: Metadata,
    },
    { additionalProperties: false },
  )
}

/** What is to become of a tool call: decided in the model step, so that a replay cannot decide otherwise. */
const Decision = Type.Union([
  /** Execute it. */
  Type.Literal('execute'),
  /** Ask a person first. */
  Type.Literal('ask'),
  /** A policy says no. */
  Type.Literal('deny'),
  /** It has no `execute`: the client does it. */
  Type.Literal('client'),
  /** It named no tool, or its input does not fit; the model is told. */
  Type.Literal('invalid'),
  /** The provider executes it. */
  Type.Literal('provider'),
])

/** One part of what a model gave, in its order. Texts keep the id that their chunks carried. */
const RecordedPart = Type.Union([
  textOf('text'),
  textOf('reasoning'),
  fileOf('file'),
  fileOf('reasoning-file'),
  Type.Object(
    {
      type: Type.Literal('source'),
      sourceType: Type.Union([Type.Literal('url'), Type.Literal('document')]),
      id: Type.String(),
      url: Type.Optional(Type.String()),
      mediaType: Type.Optional(Type.String()),
      title: Type.Optional(Type.String()),
      filename: Type.Optional(Type.String()),
      providerMetadata: Metadata,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    { type: Type.Literal('custom'), kind: Type.String(), providerMetadata: Metadata },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('tool-call'),
      toolCallId: Type.String(),
      toolName: Type.String(),
      input: Type.Unknown(),
      decision: Decision,
      /** Why it is denied or asked about, for the person or the model. */
      reason: Type.Optional(Type.String()),
      /** Why it is invalid, for the model. */
      error: Type.Optional(Type.String()),
      dynamic: Type.Optional(Type.Boolean()),
      title: Type.Optional(Type.String()),
      toolMetadata: Type.Optional(Type.Object({})),
      providerMetadata: Metadata,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('tool-result'),
      toolCallId: Type.String(),
      toolName: Type.String(),
      result: Type.Unknown(),
      isError: Type.Optional(Type.Boolean()),
      dynamic: Type.Optional(Type.Boolean()),
      providerMetadata: Metadata,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      type: Type.Literal('tool-approval-request'),
      approvalId: Type.String(),
      toolCallId: Type.String(),
      providerMetadata: Metadata,
    },
    { additionalProperties: false },
  ),
])
export type RecordedPart = Static<typeof RecordedPart>

/** A tool call as it was recorded. */
export type RecordedToolCall = Extract<RecordedPart, { type: 'tool-call' }>

/** The version of {@link ModelCallRecord} that this release writes. */
export const modelCallRecordVersion = 1

/**
 * What is kept of a model call: all that the next one, the caller and a replay need.
 *
 * Stored as the result of a durable step. Golden files of every version are read for ever.
 */
export const ModelCallRecord = Type.Object(
  {
    version: Type.Literal(modelCallRecordVersion),
    model: Type.Object(
      { provider: Type.String(), modelId: Type.String() },
      { additionalProperties: false },
    ),
    content: Type.Array(RecordedPart),
    finishReason: Type.Union([
      Type.Literal('stop'),
      Type.Literal('length'),
      Type.Literal('content-filter'),
      Type.Literal('tool-calls'),
      Type.Literal('error'),
      Type.Literal('interrupted'),
      Type.Literal('other'),
    ]),
    rawFinishReason: Type.Optional(Type.String()),
    usage: Type.Object(
      {
        inputTokens: Type.Object(
          { total: Tokens, noCache: Tokens, cacheRead: Tokens, cacheWrite: Tokens },
          { additionalProperties: false },
        ),
        outputTokens: Type.Object(
          { total: Tokens, text: Tokens, reasoning: Tokens },
          { additionalProperties: false },
        ),
        raw: Type.Optional(Type.Object({})),
      },
      { additionalProperties: false },
    ),
    providerMetadata: Metadata,
    response: Type.Object(
      {
        id: Type.Optional(Type.String()),
        modelId: Type.Optional(Type.String()),
        /** Milliseconds since the epoch. */
        timestamp: Type.Number(),
        headers: Type.Optional(Type.Record(Type.String(), Type.String())),
        /** Kept if `include` asks for it. */
        body: Type.Optional(Type.Unknown()),
      },
      { additionalProperties: false },
    ),
    /** What was sent, as far as `include` asks for it. */
    request: Type.Optional(
      Type.Object(
        {
          body: Type.Optional(Type.Unknown()),
          messages: Type.Optional(Type.Array(Type.Unknown())),
        },
        { additionalProperties: false },
      ),
    ),
    warnings: Type.Array(Type.Object({})),
    /** How long the attempt that succeeded took, and how long its first output. Milliseconds. */
    timing: Type.Optional(
      Type.Object(
        { responseMs: Type.Number(), firstOutputMs: Type.Optional(Type.Number()) },
        { additionalProperties: false },
      ),
    ),
    /** The signal fired before the model had ended: `content` is what had come until then. */
    aborted: Type.Optional(Type.Literal(true)),
    /** A hook gave other messages: they replace the ones before this call, for this step and all later ones. */
    messages: Type.Optional(Type.Array(Type.Object({ role: Type.String() }))),
    /** Contexts that `prepareStep` gave for this step's tools. */
    runtimeContext: Type.Optional(Type.Object({})),
    toolsContext: Type.Optional(Type.Object({})),
  },
  { additionalProperties: false },
)
export type ModelCallRecord = Static<typeof ModelCallRecord>

/** Reads and writes {@link ModelCallRecord}. */
export const modelCallCodec = recordCodec('model call', modelCallRecordVersion, ModelCallRecord)
