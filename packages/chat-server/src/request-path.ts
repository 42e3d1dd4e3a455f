import {
  ErrorCode,
  HoldfastError,
  wholeNumberOption,
  isHoldfastError,
  Limits,
} from '@holdfast/core'
import { MethodNotAllowedError } from './http-error.ts'

/**
 * The segments of a URL's path below a base, decoded: `[]` for the base itself, `undefined` for a path outside of it.
 *
 * @throws `arguments_invalid` a segment that cannot be decoded
 */
export function segmentsBelow(basePath: string, url: URL): readonly string[] | undefined {
  const { pathname } = url
  if (pathname === basePath || pathname === `${basePath}/`) return []
  if (!pathname.startsWith(`${basePath}/`)) return undefined
  return pathname
    .slice(basePath.length + 1)
    .split('/')
    .map(decodeSegment)
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: 'The path cannot be decoded.',
      cause,
    })
  }
}

/** Checks a base path: `/` and what follows, with no `/` at its end. @throws `configuration_invalid` */
export function checkedBasePath(basePath: string): string {
  if (/^(?:\/[A-Za-z0-9_.~-]+)+$/.test(basePath)) return basePath
  throw new HoldfastError(ErrorCode.configurationInvalid, {
    message: 'basePath must look like /api/chat.',
  })
}

/** Lets only these methods through. @throws `method_not_allowed` */
export function assertMethod(request: Request, ...allowed: readonly string[]): void {
  if (!allowed.includes(request.method)) throw new MethodNotAllowedError(allowed.join(', '))
}

/** A whole number of a query, within bounds. @throws `arguments_invalid` */
function wholeNumberQuery(
  url: URL,
  name: string,
  bounds: { readonly min: number; readonly max: number; readonly absent: number },
): number {
  const text = url.searchParams.get(name)
  if (text === null) return bounds.absent
  try {
    return wholeNumberOption(name, /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN, bounds)
  } catch (cause) {
    if (!isHoldfastError(cause)) throw cause
    throw new HoldfastError(ErrorCode.argumentsInvalid, {
      message: `${name} must be a whole number from ${bounds.min} to ${bounds.max}.`,
      cause,
    })
  }
}

/** How many items of a list are asked for. */
export function pageLimit(url: URL): number {
  const { pageDefault, pageMax } = Limits
  return wholeNumberQuery(url, 'limit', { min: 1, max: pageMax, absent: pageDefault })
}
