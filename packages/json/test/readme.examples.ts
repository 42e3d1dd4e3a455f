// #region parse
import { compileSchema, digestJson, parseStrictJson } from '@holdfast/json'

const order = compileSchema({
  type: 'object',
  properties: { id: { type: 'string' }, count: { type: 'integer', minimum: 1 } },
  required: ['id'],
  additionalProperties: false,
})

/** The digest of an order: of equal orders the same, however they were written. */
export function orderDigest(text: string): string | undefined {
  const result = order.validate(parseStrictJson(text))
  return result.ok ? digestJson(result.value) : undefined
}
// #endregion parse
