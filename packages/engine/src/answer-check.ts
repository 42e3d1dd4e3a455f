// Whether an answer fits what was asked, before it is accepted.
import { ErrorCode, HoldfastError, Limits } from '@holdfast/core'
import type { JsonValue, OpenInterrupt, SchemaCheck, StoredRun } from '@holdfast/core'
import { checkJsonValue, compileSchema, utf8Length } from '@holdfast/json'
import { decodeEntries } from '@holdfast/workflow'
import type { Services } from './options.ts'

/**
 * Checks an answer against its interrupt's journaled schema, else the definition's `resume`.
 *
 * @returns a fresh copy of the answer
 * @throws `input_invalid`, `resume_unsupported`, `json_too_large`, `definition_unknown`
 */
export async function checkAnswer(
  services: Services,
  run: StoredRun,
  interrupt: OpenInterrupt,
  payload: JsonValue,
): Promise<JsonValue> {
  const copy = checkJsonValue(payload, {
    maxDepth: Limits.inputDepth,
    maxProperties: Limits.inputProperties,
  })
  if (utf8Length(JSON.stringify(copy)) > Limits.inputBytes) {
    throw new HoldfastError(ErrorCode.jsonTooLarge, {
      message: `An answer can have ${Limits.inputBytes} bytes.`,
    })
  }
  const schema = interrupt.schema ?? (await journaledSchema(services, run, interrupt))
  const check =
    schema === undefined ? resumeCheck(services, run, copy) : compileSchema(schema).validate(copy)
  if (check.ok) return copy
  throw new HoldfastError(ErrorCode.inputInvalid, {
    message: 'invalid workflow input (resume): it does not fit the schema.',
    details: { issues: check.issues.map(({ path, message }) => ({ path, message })) },
  })
}

/** A schema that was too large for the run's row is in the journal. */
async function journaledSchema(
  services: Services,
  run: StoredRun,
  interrupt: OpenInterrupt,
): Promise<object | undefined> {
  const { sessionId, id } = run.record
  const [row] = await services.store.journal(sessionId, id, { from: interrupt.revision, limit: 1 })
  if (row === undefined) return undefined
  for (const entry of decodeEntries(row).entries) {
    if (entry.kind !== 'interrupt-opened' || entry.interruptId !== interrupt.id) continue
    return typeof entry.schema === 'object' && entry.schema !== null ? entry.schema : undefined
  }
  return undefined
}

/** Without a schema of its own, an interrupt takes what the definition's `resume` says, else any JSON. */
function resumeCheck(services: Services, run: StoredRun, payload: JsonValue): SchemaCheck {
  const { name, version } = run.record.definition
  return services.catalog.resolve(name, version).checkResume(payload)
}
