import { parsedJson, recordOf, textOf } from '../api/json-reader.ts'

/** What a person can do about a problem. */
export type Remedy =
  /** Send what was not accepted again. */
  | 'send-again'
  /** Connect to the answer that goes on without this page. */
  | 'reconnect'
  /** Have the answer made anew. */
  | 'answer-again'
  /** Ask for the stop once more. */
  | 'stop-again'

/** Something went wrong, as a person is told it. */
export interface Problem {
  readonly title: string
  readonly detail: string
  readonly remedy: Remedy
}

/** What was being done when it went wrong. */
export interface FailedRequest {
  readonly kind: 'send' | 'decide' | 'resume' | 'regenerate' | 'stop'
  /** The server had accepted it: the answer goes on there. */
  readonly wasAccepted: boolean
}

/** Says what an error means for a person. */
export function problemFrom(error: unknown, failed: FailedRequest): Problem {
  const told = toldBy(error)
  const isConnection = error instanceof Error && error.name === 'ChatDisconnectedError'
  const isRefusal = error instanceof Error && error.name === 'ChatTransportError'
  if (failed.kind === 'stop') {
    return { title: 'The answer could not be stopped', detail: told, remedy: 'stop-again' }
  }
  if (failed.wasAccepted || failed.kind === 'resume') {
    if (isConnection || isRefusal || failed.kind === 'resume') {
      return {
        title: 'The connection was lost',
        detail: 'Your message is safe and the answer goes on without this page.',
        remedy: 'reconnect',
      }
    }
    return { title: 'The answer failed', detail: told, remedy: 'answer-again' }
  }
  if (isConnection) {
    return {
      title: failed.kind === 'decide' ? 'Your decision was not sent' : 'Your message was not sent',
      detail: 'The server cannot be reached. Nothing is lost; sending it twice is harmless.',
      remedy: 'send-again',
    }
  }
  return {
    title: failed.kind === 'decide' ? 'Your decision was refused' : 'Your message was refused',
    detail: told,
    remedy: 'send-again',
  }
}

/** What the button says. */
export function remedyLabel(remedy: Remedy): string {
  switch (remedy) {
    case 'send-again':
      return 'Send again'
    case 'reconnect':
      return 'Reconnect'
    case 'answer-again':
      return 'Try again'
    case 'stop-again':
      return 'Stop again'
  }
}

/** The server's own words, which a transport's error ends with, or the error's. */
function toldBy(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong.'
  const json = error.message.slice(error.message.indexOf('{'))
  return textOf(recordOf(recordOf(parsedJson(json))?.['error'])?.['message']) ?? error.message
}
