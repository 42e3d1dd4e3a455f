import { ErrorCode, HoldfastError, isUuid } from '@holdfast/core'

/** What a host says about a request: whose it is, a response of its own, or nothing (401). */
export type Authorization = { readonly sessionId: string } | Response | undefined

/**
 * Says whose a request is, by a cookie or a token; never by anything that the client may choose. A `Response` is sent as it is. May
 * be called for every request, so it should be quick.
 */
export type Authorize = (request: Request) => Authorization | Promise<Authorization>

/** The session of a request, or the response that refuses it. @throws `unauthenticated`, `configuration_invalid` */
export async function sessionOf(
  authorize: Authorize,
  request: Request,
): Promise<string | Response> {
  const authorization = await authorize(request)
  if (authorization instanceof Response) return authorization
  if (authorization === undefined) {
    throw new HoldfastError(ErrorCode.unauthenticated, { message: 'There is no session.' })
  }
  const { sessionId } = authorization
  if (isUuid(sessionId)) return sessionId.toLowerCase()
  throw new HoldfastError(ErrorCode.configurationInvalid, {
    message: 'authorize must give a UUID as sessionId.',
  })
}
