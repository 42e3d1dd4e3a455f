import { ErrorCode, HoldfastError, Limits, type JsonValue } from '@holdfast/core'
import { loneSurrogateIndex, truncateUtf8 } from './bytes.ts'
import {
  checkedLimits,
  jsonTooDeep,
  jsonTooLarge,
  jsonTooManyProperties,
  valueLimits,
  type JsonLimits,
} from './json-limits.ts'
import { jsonPointer } from './json-pointer.ts'
import { ownProperty } from './own-property.ts'

const pointerBytes = 256

/** What a value may measure; its bytes are known only once it is text. */
export type ValueLimits = Omit<JsonLimits, 'maxBytes'>

/**
 * A fresh copy of a value that JSON holds exactly; anything else is refused.
 *
 * Refused: `undefined` anywhere, also as a property or a hole in an array; functions, symbols,
 * symbol keys, bigints, NaN, the infinities; class instances, so dates, maps, sets, errors,
 * buffers; lone surrogates in strings or keys; cycles. `toJSON` is never called. `-0` becomes
 * `0`, as in text. Properties that are not enumerable, and named properties of an array, are
 * no part of a value. A getter is read once. A part that occurs twice is copied twice.
 *
 * @throws `json_unsupported_value` with the JSON pointer in `details.path`, or `json_unicode_invalid`
 * @throws `json_too_deep` beyond 512 levels, or the given depth
 * @throws `json_too_many_properties` beyond the given number; by default there is none
 * @throws `json_too_large` a value of so many parts that no stored value can hold it
 */
export function checkJsonValue(value: unknown, limits: Partial<ValueLimits> = {}): JsonValue {
  const bounds = checkedLimits({ ...valueLimits, ...limits })
  return copyOf(value, undefined, { bounds, parts: 0, properties: 0 })
}

interface Walk {
  readonly bounds: ValueLimits
  parts: number
  properties: number
}

/** Where a part stands: its key in the container, and where that stands. Absent: the root. */
interface Place {
  readonly container: object
  readonly parent: Place | undefined
  readonly depth: number
  key: string | number
}

function copyOf(value: unknown, place: Place | undefined, walk: Walk): JsonValue {
  walk.parts += 1
  if (walk.parts > Limits.valueBytes) throw jsonTooLarge(Limits.valueBytes)
  switch (typeof value) {
    case 'string':
      return checkedText(value, place)
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return value === 0 ? 0 : value
      throw unsupported('a number that is not finite', place)
    case 'object':
      return value === null ? null : copyOfContainer(value, place, walk)
    case 'undefined':
    case 'function':
    case 'symbol':
    case 'bigint':
      break
  }
  throw unsupported(typeof value, place)
}

function copyOfContainer(container: object, parent: Place | undefined, walk: Walk): JsonValue {
  const depth = (parent?.depth ?? 0) + 1
  const place: Place = { container, parent, depth, key: '' }
  if (depth > walk.bounds.maxDepth) throw cycleError(place) ?? jsonTooDeep(walk.bounds.maxDepth)
  if (Array.isArray(container)) return copyOfArray(container, place, walk)
  if (isPlain(container)) return copyOfObject(container, place, walk)
  throw unsupported('a class instance', parent)
}

function copyOfArray(array: readonly unknown[], place: Place, walk: Walk): JsonValue {
  // The prototype of arrays is itself an array, in every realm; that of a subclass is not.
  if (!Array.isArray(Object.getPrototypeOf(array)))
    throw unsupported('a class instance', place.parent)
  const copy: JsonValue[] = []
  for (let index = 0; index < array.length; index += 1) {
    place.key = index
    copy.push(copyOf(array[index], place, walk))
  }
  return copy
}

function copyOfObject(object: object, place: Place, walk: Walk): JsonValue {
  const copy: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(object)) {
    place.key = key
    walk.properties += 1
    if (walk.properties > walk.bounds.maxProperties) {
      throw jsonTooManyProperties(walk.bounds.maxProperties)
    }
    ownProperty(copy, checkedText(key, place), copyOf(value, place, walk))
  }
  for (const symbol of Object.getOwnPropertySymbols(object)) {
    if (Object.prototype.propertyIsEnumerable.call(object, symbol)) {
      throw unsupported('a symbol key', place.parent)
    }
  }
  return copy
}

/** Whether an object inherits nothing, or only what objects of some realm inherit. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype === Object.prototype || prototype === null) return true
  return (
    typeof prototype === 'object' &&
    Object.getPrototypeOf(prototype) === null &&
    Object.hasOwn(prototype, 'isPrototypeOf')
  )
}

function checkedText(text: string, place: Place | undefined): string {
  if (loneSurrogateIndex(text) === undefined) return text
  throw new HoldfastError(ErrorCode.jsonUnicodeInvalid, {
    message: `A text at ${pointerText(place)} has a lone surrogate`,
    details: { path: pointerOf(place) },
  })
}

/** A cycle never ends, so it always runs into the depth limit; only there is it looked for. */
function cycleError(deepest: Place): HoldfastError | undefined {
  const seen = new Set<object>()
  for (const place of placesFromRoot(deepest)) {
    if (seen.has(place.container)) return unsupported('a cycle', place.parent)
    seen.add(place.container)
  }
  return undefined
}

function unsupported(what: string, place: Place | undefined): HoldfastError {
  return new HoldfastError(ErrorCode.jsonUnsupportedValue, {
    message: `JSON cannot hold what is at ${pointerText(place)}: ${what}`,
    details: { path: pointerOf(place), found: what },
  })
}

function pointerText(place: Place | undefined): string {
  return pointerOf(place) === '' ? 'the root' : pointerOf(place)
}

function pointerOf(place: Place | undefined): string {
  const keys = placesFromRoot(place).map(({ key }) => key)
  return truncateUtf8(jsonPointer(keys), pointerBytes)
}

function placesFromRoot(deepest: Place | undefined): readonly Place[] {
  const places: Place[] = []
  for (let place = deepest; place !== undefined; place = place.parent) places.push(place)
  return places.toReversed()
}
