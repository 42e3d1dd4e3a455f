import Type, { type Static } from 'typebox'
import { recordCodec } from './record-codec.ts'

/** The version of {@link ToolCallRecord} that this release writes. */
export const toolCallRecordVersion = 1

const ExecutionMs = Type.Optional(Type.Number({ minimum: 0 }))

/**
 * What became of a tool's execution. `output` is what the tool returned; `modelOutput` what its
 * `toModelOutput` made of it, if it has one. An error's text is safe: the model and the reader get it.
 */
export const ToolCallRecord = Type.Union([
  Type.Object(
    {
      version: Type.Literal(toolCallRecordVersion),
      kind: Type.Literal('result'),
      output: Type.Unknown(),
      modelOutput: Type.Optional(Type.Object({ type: Type.String() })),
      executionMs: ExecutionMs,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      version: Type.Literal(toolCallRecordVersion),
      kind: Type.Literal('error'),
      errorText: Type.String(),
      executionMs: ExecutionMs,
    },
    { additionalProperties: false },
  ),
])
export type ToolCallRecord = Static<typeof ToolCallRecord>

/** Reads and writes {@link ToolCallRecord}. */
export const toolCallCodec = recordCodec('tool call', toolCallRecordVersion, ToolCallRecord)

/** What the end of a step decided. */
export const StepEndRecord = Type.Object(
  {
    version: Type.Literal(1),
    /** A stop condition said that no further step shall follow. */
    stop: Type.Boolean(),
  },
  { additionalProperties: false },
)
export type StepEndRecord = Static<typeof StepEndRecord>

/** Reads and writes {@link StepEndRecord}. */
export const stepEndCodec = recordCodec('step end', 1, StepEndRecord)

/** What a call's output specification made of the model's last text. */
const OutputRecord = Type.Object(
  { version: Type.Literal(1), value: Type.Unknown() },
  { additionalProperties: false },
)

/** Reads and writes a call's output. */
export const outputCodec = recordCodec('output', 1, OutputRecord)
