import { ChatTransportError } from './error.ts'

/** A value, a promise of one, or a function that gives either; asked for anew at each request. */
export type Resolvable<T> = T | PromiseLike<T> | (() => T | PromiseLike<T>)

/** One request, ready for `fetch`. */
export interface PreparedRequest {
  readonly url: string
  readonly init: RequestInit
}

/** The value of a {@link Resolvable}. */
export async function resolve<T extends object | string>(
  value: Resolvable<T> | undefined,
): Promise<T | undefined> {
  return typeof value === 'function' ? await value() : await value
}

/** Headers as a plain object with lower-case names; later ones win. */
export function mergeHeaders(...all: readonly (HeadersInit | undefined)[]): Record<string, string> {
  const merged: Record<string, string> = {}
  for (const headers of all) {
    new Headers(headers).forEach((value, name) => {
      merged[name] = value
    })
  }
  return merged
}

/** The URL of a chat's or a stream's resource below `api`, whose query is kept. */
export function resourceUrl(api: string, id: string, resource: 'stream' | 'cancel'): string {
  if (id === '' || id === '.' || id === '..') {
    throw new ChatTransportError('id_invalid', `A chat id must not be ${JSON.stringify(id)}.`)
  }
  const { path, query, hash } = splitUrl(api)
  return `${path.replace(/\/+$/, '')}/${encodeURIComponent(id)}/${resource}${query}${hash}`
}

/** The URL with its `startIndex` set; the rest of its query stays as it is written. */
export function withStartIndex(url: string, startIndex: number): string {
  const { path, query, hash } = splitUrl(url)
  const others = query
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== 'startIndex')
  return `${path}?${[...others, `startIndex=${startIndex}`].join('&')}${hash}`
}

function splitUrl(url: string): { path: string; query: string; hash: string } {
  const hashAt = url.indexOf('#')
  const beforeHash = hashAt === -1 ? url : url.slice(0, hashAt)
  const queryAt = beforeHash.indexOf('?')
  return {
    path: queryAt === -1 ? beforeHash : beforeHash.slice(0, queryAt),
    query: queryAt === -1 ? '' : beforeHash.slice(queryAt),
    hash: hashAt === -1 ? '' : url.slice(hashAt),
  }
}
