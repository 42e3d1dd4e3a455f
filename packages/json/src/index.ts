export { parseStrictJson } from './strict-json.ts'
export { type JsonLimits } from './json-limits.ts'
export { parseDocument, documentFromValue, type JsonDocument } from './document.ts'

export { checkJsonValue, type ValueLimits } from './check-json.ts'
export { isJsonObject } from './is-json-object.ts'
export { encodeJson, decodeJson } from './json-text.ts'

export { canonicalJson, canonicalBytes } from './canonical-json.ts'
export { sha256Hex, digestJson } from './digest.ts'

export { assertClosedSchema } from './closed-schema.ts'
export {
  compileSchema,
  type CompileOptions,
  type Validation,
  type ValidationIssue,
  type Validator,
  type ValueOf,
} from './compile.ts'

export { utf8Length, truncateUtf8, toBase64Url, fromBase64Url } from './bytes.ts'
