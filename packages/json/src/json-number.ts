/**
 * The double that a JSON number stands for, or `undefined` if writing it as a double would
 * make another number of it.
 *
 * N1. Below 2^53 integers are exact, and fractions become the nearest double, as everywhere.
 * N2. From 2^53 on a number must be held exactly, or be written as the shortest text of its
 *     double: so 9007199254740993 is refused, and whatever `JSON.stringify` writes is read.
 * N3. A number that would become infinite, or zero without being zero, is refused.
 * N4. Minus zero becomes zero, as in the canonical form.
 *
 * The literal must follow the grammar of JSON.
 */
export function numberFromLiteral(literal: string): number | undefined {
  const value = Number(literal)
  if (value === 0) return isZero(literal) ? 0 : undefined
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return value
  if (!Number.isFinite(value)) return undefined
  return isKept(literal, value) ? value : undefined
}

/** A number as `digits` times ten to the `exponent`, without zeros at either end. */
interface Decimal {
  readonly digits: string
  readonly exponent: number
}

function isZero(literal: string): boolean {
  return !/[1-9]/.test(literal.replace(/e.*$/i, ''))
}

function isKept(literal: string, value: number): boolean {
  const written = decimalOf(literal)
  const shortest = decimalOf(String(value))
  if (written.digits === shortest.digits && written.exponent === shortest.exponent) return true
  if (written.exponent < 0) return false
  return BigInt(written.digits) * 10n ** BigInt(written.exponent) === BigInt(Math.abs(value))
}

function decimalOf(literal: string): Decimal {
  const [mantissa = '', power = '0'] = literal.replace(/^-/, '').toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const all = whole + fraction
  let end = all.length
  while (end > 0 && all.charAt(end - 1) === '0') end -= 1
  const digits = all.slice(0, end).replace(/^0+/, '')
  return { digits, exponent: Number(power) - fraction.length + (all.length - end) }
}
