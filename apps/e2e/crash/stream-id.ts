/** A stream of a run: `<runId>`, `<runId>.2`, …, or the first ones read as one: `<runId>.1-<last>`. */
export interface StreamName {
  readonly runId: string
  readonly last: number
  /** Whether it begins with the message, though it is not the first. */
  readonly isMessage: boolean
}

/** Takes a stream's id apart. @throws when it is none */
export function parseStreamName(streamId: string): StreamName {
  const [, runId, whole, number] = /^([0-9a-f-]{36})(?:\.(1-)?(\d+))?$/.exec(streamId) ?? []
  if (runId === undefined) throw new Error(`no stream id: ${streamId}`)
  return { runId, last: Number(number ?? 1), isMessage: whole !== undefined }
}

/** The streams that make up a message, in order, given some of them or of those that hold several. */
export function streamsOfMessage(runId: string, streamIds: Iterable<string>): readonly string[] {
  const last = Math.max(1, ...[...streamIds].map((id) => parseStreamName(id).last))
  return Array.from({ length: last }, (_, index) => (index === 0 ? runId : `${runId}.${index + 1}`))
}
