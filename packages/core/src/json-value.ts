/** Any value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonArray | JsonObject

/** A JSON array; never mutated. */
export type JsonArray = readonly JsonValue[]

/** A JSON object; never mutated. An absent property is the only "no value". */
export interface JsonObject {
  readonly [key: string]: JsonValue
}
