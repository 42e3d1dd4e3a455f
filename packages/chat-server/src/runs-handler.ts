// Runs over HTTP, for pages about them.
//
// Owns:  the buckets of its rate limit.
// Asks:  the host who asks; the store and the supervisors for everything else.
// Never: starts a run, shows an input or a state.
//
// R1. Whoever is authorized is a person: an answer to a person's question is accepted.
// R2. What is another session's answers exactly as what does not exist.
import {
  type Catalog,
  ErrorCode,
  HoldfastError,
  isTerminal,
  isUuid,
  type JsonValue,
  Limits,
  type Log,
  type RunPageRequest,
  type RunReader,
  RunStatus,
  silentLog,
  type StoredRun,
  type Supervisors,
  type System,
  unansweredInterrupts,
  type Watcher,
  wholeNumberOption,
} from '@holdfast/core'
import { system as realSystem } from '@holdfast/core/system'
import { lastEventIdHeader } from '@holdfast/chat-protocol'
import { isJsonObject, truncateUtf8 } from '@holdfast/json'
import { type Authorize, sessionOf } from './authorize.ts'
import { draining, errorResponse, jsonResponse } from './http-error.ts'
import { pathNotFound, runUnknown } from './not-found.ts'
import { createRateLimit } from './rate-limit.ts'
import { readJsonBody } from './request-body.ts'
import { assertMethod, checkedBasePath, pageLimit, segmentsBelow } from './request-path.ts'
import { historyFrames, parseHistoryCursor } from './run-history.ts'
import { createRunJournal, type JournalReader } from './run-journal.ts'
import { runJson } from './run-json.ts'
import { sseResponse } from './sse-response.ts'

/** Options of {@link createRunsHandler}. */
export interface RunsHandlerOptions {
  readonly authorize: Authorize
  readonly supervisors: Supervisors
  readonly store: RunReader & Watcher & JournalReader
  /** Names the runs' definitions. */
  readonly catalog: Catalog
  /** Default `/api/runs`. */
  readonly basePath?: string
  readonly system?: System
  readonly log?: Log
  readonly limits?: {
    /** Bytes of a request's body. Default 4 MiB. */
    readonly bodyBytes?: number
    /** Requests a second of one session. Default 20. */
    readonly requestsPerSecond?: number
    /** Milliseconds between heartbeats. Default 15,000. */
    readonly heartbeatMs?: number
  }
}

/** Serves runs. */
export interface RunsHandler {
  /** Answers a request; `undefined` for a path that is not below `basePath`. Never rejects. */
  handle(request: Request): Promise<Response | undefined>
  /** Refuses requests from now on (503), and lets go of the readers. */
  drain(): void
}

/**
 * Creates the handler of a session's runs.
 *
 * | route | answer |
 * | --- | --- |
 * | `GET {base}?limit&after&order&status&definition` | runs, the newest first |
 * | `GET {base}/{id}` | one, with its output |
 * | `GET {base}/{id}/history` | its activities as server-sent events, live; `Last-Event-ID` resumes |
 * | `POST {base}/{id}/resume` | answers a question: `{ interrupt_id?, resume }` |
 * | `POST {base}/{id}/cancel` | asks it to stop: `{ reason? }` |
 *
 * @throws `configuration_invalid`
 */
export function createRunsHandler(options: RunsHandlerOptions): RunsHandler {
  const { authorize, supervisors, store, catalog, limits = {} } = options
  const { system = realSystem, log = silentLog } = options
  const basePath = checkedBasePath(options.basePath ?? '/api/runs')
  const bodyBytes = limit('bodyBytes', limits.bodyBytes ?? Limits.httpBodyBytes, 64 * 1024 * 1024)
  const perSecond = limits.requestsPerSecond ?? Limits.requestsPerSecond
  const rateLimit = createRateLimit(limit('requestsPerSecond', perSecond, 1_000_000), system)
  const heartbeatMs = limit('heartbeatMs', limits.heartbeatMs ?? Limits.heartbeatMs, 3_600_000)
  const journal = createRunJournal(store)
  const letGo = new AbortController()

  async function route(
    request: Request,
    url: URL,
    sessionId: string,
    [id, resource, ...rest]: readonly string[],
  ): Promise<Response> {
    if (id === undefined) {
      assertMethod(request, 'GET')
      return await list(url, sessionId)
    }
    if (rest.length > 0) throw pathNotFound()
    switch (resource) {
      case undefined:
        assertMethod(request, 'GET')
        return jsonResponse(await shown(sessionId, await find(sessionId, id)))
      case 'history':
        assertMethod(request, 'GET')
        return await history(request, sessionId, await find(sessionId, id))
      case 'resume':
        assertMethod(request, 'POST')
        return await resume(request, sessionId, id)
      case 'cancel':
        assertMethod(request, 'POST')
        return await cancel(request, sessionId, id)
      default:
        throw pathNotFound()
    }
  }

  async function find(sessionId: string, id: string): Promise<StoredRun> {
    const run = isUuid(id) ? await store.run(sessionId, id.toLowerCase()) : undefined
    if (run === undefined) throw runUnknown()
    return run
  }

  /** The run with what its row has not. */
  async function shown(sessionId: string, run: StoredRun): Promise<JsonValue> {
    const { id, definition } = run.record
    const output = isTerminal(run.record.status)
      ? await supervisors.session(sessionId).output(id)
      : undefined
    const payloads = new Map<string, JsonValue>()
    for (const interrupt of unansweredInterrupts(run)) {
      const payload = await journal.interruptPayload(sessionId, run, interrupt)
      if (payload !== undefined) payloads.set(interrupt.id, payload)
    }
    return runJson(run, {
      definition: catalog.find(definition.name, definition.version),
      payloads,
      ...(output === undefined ? {} : { output }),
    })
  }

  async function list(url: URL, sessionId: string): Promise<Response> {
    const page = await store.runs(sessionId, pageRequest(url))
    return jsonResponse({
      runs: page.items.map((run) => {
        const { name, version } = run.record.definition
        return runJson(run, { definition: catalog.find(name, version) })
      }),
      ...(page.next === undefined ? {} : { next: page.next }),
    })
  }

  async function history(request: Request, sessionId: string, run: StoredRun): Promise<Response> {
    const lastEventId = request.headers.get(lastEventIdHeader)
    const after = lastEventId === null ? undefined : parseHistoryCursor(lastEventId)
    const supervisor = supervisors.session(sessionId)
    // Asked once before the response begins, so that a run that cannot be told of is an error and no broken stream.
    await supervisor.history(run.record.id, { limit: 1 })
    const headers = new Headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    return sseResponse({
      headers,
      timers: system,
      log,
      heartbeatMs,
      letGo: letGo.signal,
      frames: (signal) =>
        historyFrames({
          store,
          supervisor,
          sessionId,
          runId: run.record.id,
          signal,
          ...(after === undefined ? {} : { after }),
        }),
    })
  }

  async function resume(request: Request, sessionId: string, id: string): Promise<Response> {
    const body = await readJsonBody(request, bodyBytes)
    const { interrupt_id: interruptId, resume: payload, ...unknown } = body
    assertNoMore(unknown)
    if (payload === undefined || !isJsonObject(payload)) {
      throw new HoldfastError(ErrorCode.argumentsInvalid, { message: 'resume must be an object.' })
    }
    if (interruptId !== undefined && (typeof interruptId !== 'string' || interruptId === '')) {
      throw new HoldfastError(ErrorCode.argumentsInvalid, {
        message: 'interrupt_id must be a text.',
      })
    }
    const run = await find(sessionId, id)
    const { run: resumed, streamId } = await supervisors.session(sessionId).resume({
      runId: run.record.id,
      payload,
      by: { kind: 'person' },
      ...(interruptId === undefined ? {} : { interruptId }),
    })
    return jsonResponse({ run: await shown(sessionId, resumed), stream_id: streamId })
  }

  async function cancel(request: Request, sessionId: string, id: string): Promise<Response> {
    const { reason, ...unknown } = await readJsonBody(request, bodyBytes, { optional: true })
    assertNoMore(unknown)
    if (reason !== undefined && typeof reason !== 'string') {
      throw new HoldfastError(ErrorCode.argumentsInvalid, { message: 'reason must be a text.' })
    }
    const run = await find(sessionId, id)
    const { run: cancelled, alreadyCancelled } = await supervisors.session(sessionId).cancel({
      runId: run.record.id,
      by: { kind: 'person' },
      ...(reason === undefined || reason.trim() === ''
        ? {}
        : { reason: truncateUtf8(reason.trim(), Limits.cancelReasonBytes) }),
    })
    return jsonResponse({
      run: await shown(sessionId, cancelled),
      already_cancelled: alreadyCancelled,
    })
  }

  return {
    async handle(request) {
      try {
        const url = new URL(request.url)
        const segments = segmentsBelow(basePath, url)
        if (segments === undefined) return undefined
        if (letGo.signal.aborted) throw draining()
        const sessionId = await sessionOf(authorize, request)
        if (sessionId instanceof Response) return sessionId
        rateLimit.take(sessionId)
        return await route(request, url, sessionId, segments)
      } catch (error) {
        return errorResponse(error, log)
      }
    },
    drain() {
      letGo.abort()
    },
  }
}

function limit(name: string, value: number, max: number): number {
  return wholeNumberOption(`limits.${name}`, value, { min: 1, max })
}

function assertNoMore(unknown: object): void {
  if (Object.keys(unknown).length === 0) return
  throw new HoldfastError(ErrorCode.argumentsInvalid, {
    message: 'The body has a field that is not known.',
  })
}

const statuses: ReadonlySet<string> = new Set(RunStatus.anyOf.map(({ const: status }) => status))

function isRunStatus(value: string): value is RunStatus {
  return statuses.has(value)
}

function pageRequest(url: URL): RunPageRequest {
  const { searchParams } = url
  const after = searchParams.get('after')
  const order = searchParams.get('order') ?? 'descending'
  const status = searchParams.getAll('status')
  const definition = searchParams.get('definition')
  if (after !== null && !isUuid(after)) throw queryInvalid('after must be the id of a run.')
  if (order !== 'ascending' && order !== 'descending') {
    throw queryInvalid('order must be ascending or descending.')
  }
  if (!status.every(isRunStatus)) throw queryInvalid('status must be a run’s status.')
  if (definition !== null && (definition === '' || definition.length > 64)) {
    throw queryInvalid('definition must be a definition’s name.')
  }
  return {
    limit: pageLimit(url),
    order,
    ...(after === null ? {} : { after: after.toLowerCase() }),
    ...(status.length === 0 ? {} : { status }),
    ...(definition === null ? {} : { definition }),
  }
}

function queryInvalid(message: string): HoldfastError {
  return new HoldfastError(ErrorCode.argumentsInvalid, { message })
}
