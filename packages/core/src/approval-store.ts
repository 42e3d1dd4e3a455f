import type { JsonValue } from './json-value.ts'

/** The server's own record of having asked for an approval. */
export interface ApprovalRecord {
  readonly approvalId: string
  readonly toolCallId: string
  readonly toolName: string
  readonly input: JsonValue
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Keeps approvals for agents that run without an engine. Every operation is atomic. */
export interface ApprovalStore {
  /** Absent-only by approval id; repeating the same record is harmless. */
  put(record: ApprovalRecord): Promise<void>
  get(approvalId: string): Promise<ApprovalRecord | undefined>
  /** True exactly once for each id. */
  use(approvalId: string): Promise<boolean>
}
