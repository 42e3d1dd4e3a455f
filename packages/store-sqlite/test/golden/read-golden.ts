import { inboxOf, isHoldfastError, streamIdOf } from '@holdfast/core'
import type { Store } from '@holdfast/core'
import { blobBytes, goldenNow, inputBytes, runs, sessions, sha256 } from './golden-data.ts'

/** Every read of the port, as plain JSON. */
export async function readGolden(store: Store): Promise<unknown> {
  const reads: Record<string, unknown> = {}
  const take = async (name: string, read: Promise<unknown>): Promise<void> => {
    try {
      reads[name] = plain(await read)
    } catch (error) {
      reads[name] = { throws: isHoldfastError(error) ? error.code : String(error) }
    }
  }
  const { full, small } = sessions
  const all = { from: 0, limit: 1_000 }

  for (const [name, runId] of Object.entries(runs)) {
    const sessionId = runId === runs.small ? small : full
    await take(`run ${name}`, store.run(sessionId, runId))
    await take(
      `run ${name}, of another session`,
      store.run(sessionId === full ? small : full, runId),
    )
    await take(`journal ${name}`, store.journal(sessionId, runId, all))
    await take(`inbox ${name}`, store.logPage(sessionId, inboxOf(runId), all))
    await take(`key ${name}`, store.runByIdempotencyKey(sessionId, `key of the ${name} run`))
    for (const number of [1, 2]) {
      const streamId = streamIdOf(runId, number)
      await take(`head ${name} ${number}`, store.streamHead(sessionId, streamId))
      await take(`stream ${name} ${number}`, store.streamPage(sessionId, streamId, all))
    }
  }
  await take('journal, a part', store.journal(full, runs.running, { from: 2, limit: 2 }))
  for (const from of [4, 14, 15]) {
    const page = store.streamPage(full, runs.running, { from, limit: 4 })
    await take(`stream, from ${from}`, page)
  }

  await take('runs', store.runs(full))
  await take('runs, descending', store.runs(full, { order: 'descending', limit: 3 }))
  await take('runs, after', store.runs(full, { after: runs.asleep, limit: 2 }))
  await take('runs, ended', store.runs(full, { status: ['completed', 'cancelled', 'failed'] }))
  await take('runs, active', store.runs(full, { status: ['pending', 'running', 'interrupted'] }))
  await take('runs, of a definition', store.runs(full, { definition: 'child_flow' }))
  await take('runs, of a parent', store.runs(full, { parentRunId: runs.running }))
  await take('runs, small', store.runs(small))

  await take('input', store.input(full, sha256(inputBytes)))
  await take('input, absent', store.input(full, sha256(blobBytes)))
  await take('blob', store.blob(full, runs.running, sha256(blobBytes)))
  await take('blob, absent', store.blob(full, runs.asleep, sha256(blobBytes)))

  await take('log', store.logPage(full, 'chat/1', all))
  await take('log, a part', store.logPage(full, 'chat/1', { from: 1, limit: 1 }))
  await take('log, closed', store.logPage(full, 'chat/2', all))
  await take('log, absent', store.logPage(full, 'chat/3', all))
  await take('log entry', store.logEntry(full, 'chat/1', 'm2'))
  await take('log entry, absent', store.logEntry(full, 'chat/1', 'm9'))
  for (const key of ['kept', 'gone', 'a/b ü', 'absent']) {
    await take(`document ${key}`, store.document(full, 'chats', key))
  }
  await take('documents', store.documents(full, 'chats', { limit: 10 }))
  await take('documents, after', store.documents(full, 'chats', { after: 'a/b ü', limit: 10 }))

  await take('work', store.findWork(goldenNow, 10))
  await take('next wake', store.nextWake())
  return reads
}

/** Absent is told as null, and bytes as their digest: both can be compared in a JSON file. */
function plain(value: unknown): unknown {
  if (value === undefined) return null
  if (value instanceof Uint8Array) return { bytes: value.length, sha256: sha256(value) }
  return value
}
