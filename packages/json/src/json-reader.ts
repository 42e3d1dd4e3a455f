import { ErrorCode, HoldfastError, type JsonValue } from '@holdfast/core'
import { jsonTooDeep, jsonTooManyProperties } from './json-limits.ts'
import { numberFromLiteral } from './json-number.ts'
import { ownProperty } from './own-property.ts'

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const fourHexDigits = /^[0-9a-fA-F]{4}$/
const escapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

// Reads one JSON value from a text without lone surrogates.
//
// Owns:  the position, the count of members, the depth.
// Never: backtracks, puts content into an error.
//
// R1. A container is refused before it is entered, a member before it is stored.
// R2. Recursion is as deep as `maxDepth`, which is bounded by `deepestJson`.
// R3. After a failure `position` is where the text stopped being acceptable.

/** A reader of one text; `position` is in UTF-16 units. */
export class JsonReader {
  position = 0
  readonly #text: string
  readonly #maxDepth: number
  readonly #maxProperties: number
  #properties = 0

  constructor(text: string, bounds: { readonly maxDepth: number; readonly maxProperties: number }) {
    this.#text = text
    this.#maxDepth = bounds.maxDepth
    this.#maxProperties = bounds.maxProperties
  }

  /** The only value of the text. @throws any of the `json_*` codes, without an offset */
  read(): JsonValue {
    this.#skipSpace()
    if (this.position === this.#text.length) throw malformed('empty JSON document')
    const value = this.#value(0)
    this.#skipSpace()
    if (this.position === this.#text.length) return value
    throw new HoldfastError(ErrorCode.jsonTrailingData, { message: 'trailing JSON value' })
  }

  #value(depth: number): JsonValue {
    const code = this.#code()
    if (code === quote) return this.#string()
    if (code === openBrace) return this.#object(depth + 1)
    if (code === openBracket) return this.#array(depth + 1)
    if (code === minus || (code >= zero && code <= nine)) return this.#number()
    if (this.#take('true')) return true
    if (this.#take('false')) return false
    if (this.#take('null')) return null
    throw malformed()
  }

  #object(depth: number): JsonValue {
    this.#enter(depth)
    const object: Record<string, JsonValue> = {}
    if (this.#closes(closeBrace)) return object
    for (;;) {
      const start = this.position
      if (this.#code() !== quote) throw malformed()
      const key = this.#string()
      if (Object.hasOwn(object, key)) {
        this.position = start
        throw new HoldfastError(ErrorCode.jsonDuplicateKey, { message: 'duplicate JSON key' })
      }
      this.#properties += 1
      if (this.#properties > this.#maxProperties) {
        this.position = start
        throw jsonTooManyProperties(this.#maxProperties)
      }
      this.#skipSpace()
      this.#expect(colon)
      this.#skipSpace()
      ownProperty(object, key, this.#value(depth))
      if (this.#ends(closeBrace)) return object
    }
  }

  #array(depth: number): JsonValue {
    this.#enter(depth)
    const array: JsonValue[] = []
    if (this.#closes(closeBracket)) return array
    for (;;) {
      array.push(this.#value(depth))
      if (this.#ends(closeBracket)) return array
    }
  }

  #enter(depth: number): void {
    if (depth > this.#maxDepth) throw jsonTooDeep(this.#maxDepth)
    this.position += 1
    this.#skipSpace()
  }

  #closes(bracket: number): boolean {
    if (this.#code() !== bracket) return false
    this.position += 1
    return true
  }

  #ends(bracket: number): boolean {
    this.#skipSpace()
    if (this.#closes(bracket)) return true
    this.#expect(comma)
    this.#skipSpace()
    return false
  }

  #expect(code: number): void {
    if (this.#code() !== code) throw malformed()
    this.position += 1
  }

  #take(word: string): boolean {
    if (!this.#text.startsWith(word, this.position)) return false
    this.position += word.length
    return true
  }

  #number(): number {
    numberPattern.lastIndex = this.position
    if (!numberPattern.test(this.#text)) throw malformed()
    const literal = this.#text.slice(this.position, numberPattern.lastIndex)
    const value = numberFromLiteral(literal)
    if (value === undefined) {
      throw new HoldfastError(ErrorCode.jsonNumberUnsafe, {
        message: 'JSON number cannot be held exactly',
      })
    }
    this.position += literal.length
    return value
  }

  #string(): string {
    const start = this.position + 1
    let end = start
    let code = this.#text.charCodeAt(end)
    while (code !== quote && code !== backslash && code >= 0x20) {
      end += 1
      code = this.#text.charCodeAt(end)
    }
    this.position = end
    const run = this.#text.slice(start, end)
    if (code === quote) {
      this.position += 1
      return run
    }
    return this.#escapedString(run)
  }

  /** Reads on from an escape; the text before it is given. */
  #escapedString(before: string): string {
    let value = before
    for (;;) {
      const code = this.#code()
      if (code === quote) {
        this.position += 1
        return value
      }
      if (code === backslash) {
        value += this.#escape()
        continue
      }
      const start = this.position
      while (this.#isPlain()) this.position += 1
      if (this.position === start) throw malformed()
      value += this.#text.slice(start, this.position)
    }
  }

  #isPlain(): boolean {
    const code = this.#code()
    return code !== quote && code !== backslash && code >= 0x20
  }

  #escape(): string {
    const letter = this.#text.charAt(this.position + 1)
    if (letter !== 'u') {
      const value = escapes.get(letter)
      if (value === undefined) throw malformed()
      this.position += 2
      return value
    }
    const unit = this.#unicodeUnit(this.position)
    if (unit < 0xd800 || unit > 0xdfff) {
      this.position += 6
      return String.fromCharCode(unit)
    }
    if (unit > 0xdbff || !this.#text.startsWith('\\u', this.position + 6)) throw loneSurrogate()
    const trailing = this.#unicodeUnit(this.position + 6)
    if (trailing < 0xdc00 || trailing > 0xdfff) throw loneSurrogate()
    this.position += 12
    return String.fromCharCode(unit, trailing)
  }

  #unicodeUnit(at: number): number {
    const digits = this.#text.slice(at + 2, at + 6)
    if (!fourHexDigits.test(digits)) throw malformed()
    return Number.parseInt(digits, 16)
  }

  /** The UTF-16 unit at the position; NaN at the end, which equals nothing. */
  #code(): number {
    return this.#text.charCodeAt(this.position)
  }

  #skipSpace(): void {
    let code = this.#code()
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) {
      this.position += 1
      code = this.#code()
    }
  }
}

function malformed(message = 'malformed JSON'): HoldfastError {
  return new HoldfastError(ErrorCode.jsonInvalid, { message })
}

function loneSurrogate(): HoldfastError {
  return new HoldfastError(ErrorCode.jsonUnicodeInvalid, {
    message: 'JSON string has a lone surrogate',
  })
}
