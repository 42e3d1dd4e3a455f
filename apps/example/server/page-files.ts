import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'",
}

/**
 * Serves the built page. A path without a dot is a place in the page, so it gets `index.html`.
 *
 * Nothing outside the folder can be named.
 */
export function pageFiles(folder: string): (request: Request) => Promise<Response | undefined> {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const path = pathOf(request)
    if (path === undefined) return undefined
    const name = extname(path) === '' ? 'index.html' : path
    const file = normalize(join(folder, name))
    if (!file.startsWith(folder + sep)) return undefined
    const bytes = await read(file)
    if (bytes === undefined) return undefined
    return new Response(request.method === 'HEAD' ? null : new Uint8Array(bytes), {
      headers: {
        'content-type': contentTypes[extname(file)] ?? 'application/octet-stream',
        'cache-control': name.startsWith('/assets/')
          ? 'public, max-age=31536000, immutable'
          : 'no-cache',
        ...securityHeaders,
      },
    })
  }
}

/** The path of a request; nothing when it is no valid one. */
function pathOf(request: Request): string | undefined {
  try {
    return decodeURIComponent(new URL(request.url).pathname)
  } catch {
    return undefined
  }
}

async function read(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file)
  } catch {
    return undefined
  }
}
