// The one place that picks implementations. Everything else knows ports.
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { agentWorkflow, WorkflowAgent } from '@holdfast/agent'
import {
  createChatHandler,
  createConversationReader,
  createRunsHandler,
} from '@holdfast/chat-server'
import { system } from '@holdfast/core/system'
import { ErrorCode, hasErrorCode, HoldfastError } from '@holdfast/core'
import type { InvokableTool, Log } from '@holdfast/core'
import { createEngine } from '@holdfast/engine'
import { openSqliteStore } from '@holdfast/store-sqlite'
import type { SqliteStore } from '@holdfast/store-sqlite'
import { createWorkflowTools } from '@holdfast/tools'
import { toAiSdkTools } from '@holdfast/tools/ai-sdk'
import { createMcpHandler } from '@holdfast/tools/mcp'
import { createCatalog } from '@holdfast/workflow'
import { counterFlow } from './definitions/counter-flow.ts'
import { refundOrder } from './definitions/refund-order.ts'
import { proofreadText, researchReport } from './definitions/research-report.ts'
import type { ChosenModel } from './model-from-environment.ts'
import { orderTools } from './order-tools.ts'
import { OrderBook } from './orders.ts'
import { pageFiles } from './page-files.ts'
import { createSessionCookies, sessionKey } from './session-cookie.ts'
import type { BrowserSession } from './session-cookie.ts'
import { besideDatabase } from './settings.ts'
import type { Settings } from './settings.ts'

/** What the order desk is made of besides its settings. */
export interface DeskOptions extends Pick<Settings, 'databasePath' | 'secret' | 'reportPauseMs'> {
  readonly model: ChosenModel
  /** The folder of the built page. */
  readonly pageFolder: string
  readonly log: Log
  /**
   * Beside a process that owns the database, open it as a client: starts and answers are made durable
   * here and carried out there. Default false: it is refused.
   */
  readonly besideOwner?: boolean
}

/** The order desk: requests in, responses out. */
export interface OrderDesk {
  handle(request: Request): Promise<Response>
  /** The workflow tools of a session, as a model has them. */
  toolsOf(sessionId: string): readonly InvokableTool[]
  /** The session that a token was made for. */
  sessionOf(token: string): string | undefined
  /** Stops taking work, lets go of what runs, closes the files. Everything goes on at the next start. */
  close(): Promise<void>
}

const instructions =
  'You are the assistant of an order desk. Look up and cancel orders with your tools. ' +
  'Start workflows for refunds (refund_order) and reports (research_report), and tell the person which run it is. ' +
  'A person answers the questions of a refund; you cannot.'

/** How the desk's MCP servers introduce themselves. */
export const mcpWords = {
  info: { name: 'holdfast-order-desk', version: '1', title: 'Order desk' },
  instructions:
    'Starts and watches workflows of an order desk. Do not poll: give wait_ms. ' +
    'A person answers the questions of a refund, in the page of the order desk.',
}

/** Opens the database and puts the order desk together. @throws HoldfastError, with one clear line */
export async function composeDesk(options: DeskOptions): Promise<OrderDesk> {
  const { reportPauseMs, model, pageFolder, log } = options
  const { store, key, orders } = await openFiles(options)
  const cookies = createSessionCookies(key)
  const workflows = [
    counterFlow,
    refundOrder(orders),
    researchReport({ pauseMs: reportPauseMs }),
    proofreadText,
  ]
  const deskAgent = agentWorkflow({
    name: 'order_desk',
    version: 'v1',
    description: 'Answers a message of a chat at the order desk.',
    conversation: {
      turns: (sessionId, input) => conversation.turns(sessionId, input),
    },
    // Called when a turn begins, by when the engine and the catalog below are there.
    agent: ({ sessionId, runId }) =>
      new WorkflowAgent({
        id: 'order-desk',
        model: model.model,
        instructions,
        tools: {
          ...orderTools(orders),
          ...toAiSdkTools(toolsOf(sessionId), { callerRunId: runId }),
        },
      }),
  })
  const catalog = createCatalog([...workflows, deskAgent])
  const engine = createEngine({ store, catalog, log })
  const { supervisors } = engine
  const conversation = createConversationReader({ store, supervisors })
  const toolsOf = (sessionId: string): readonly InvokableTool[] =>
    createWorkflowTools({
      sessionId,
      catalog,
      runs: store,
      watcher: store,
      extensions: true,
      supervisor: supervisors.session(sessionId),
      now: () => system.now(),
      newId: () => system.runId(),
    })

  const sessions = new WeakMap<Request, BrowserSession>()
  const authorize = (request: Request) => sessions.get(request)
  const chats = createChatHandler({
    authorize,
    supervisors,
    store,
    agent: { name: deskAgent.name, version: deskAgent.version },
    basePath: '/api/chat',
    onBusy: 'steer',
    log,
  })
  const runs = createRunsHandler({
    authorize,
    supervisors,
    store,
    catalog,
    basePath: '/api/runs',
    log,
  })
  const mcp = createMcpHandler({
    authorize(request) {
      const sessionId = cookies.known(request)
      return sessionId === undefined ? undefined : { sessionId, tools: toolsOf(sessionId) }
    },
    ...mcpWords,
    onError: (cause, { toolName, sessionId }) =>
      log.write({
        level: 'info',
        event: 'mcp.tool.failed',
        message: 'A tool was refused or failed.',
        fields: { tool: toolName, session_id: sessionId, code: cause.code },
        cause,
      }),
  })
  const page = pageFiles(pageFolder)
  const info = { model: model.name, isDemo: model.isDemo }

  return {
    toolsOf,
    sessionOf: (token) => cookies.sessionOf(token),
    async handle(request) {
      if (new URL(request.url).pathname === '/mcp') return mcp.handle(request)
      const session = cookies.read(request)
      sessions.set(request, session)
      const response =
        infoResponse(request, info) ??
        (await chats.handle(request)) ??
        (await runs.handle(request)) ??
        (isApi(request) ? undefined : await page(request)) ??
        notFound()
      return withCookie(response, session)
    },
    async close() {
      chats.drain()
      runs.drain()
      await engine.close()
      await store.close()
      orders.close()
    },
  }
}

interface DeskFiles {
  readonly store: SqliteStore
  readonly key: string
  readonly orders: OrderBook
}

/** Opens the database and what lies beside it: all of it, or nothing stays open. */
async function openFiles({
  databasePath,
  secret,
  log,
  besideOwner = false,
}: Pick<DeskOptions, 'databasePath' | 'secret' | 'log' | 'besideOwner'>): Promise<DeskFiles> {
  makeFolder(dirname(databasePath))
  const store = await openStore(databasePath, log, besideOwner)
  try {
    const key = openKey({ databasePath, secret })
    return { store, key, orders: new OrderBook(besideDatabase(databasePath, 'orders.db')) }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The key that signs sessions; the folder of the database is made if it is missing. */
export function openKey({
  databasePath,
  secret,
}: Pick<DeskOptions, 'databasePath' | 'secret'>): string {
  makeFolder(dirname(databasePath))
  return sessionKey(secret, besideDatabase(databasePath, 'session.key'))
}

async function openStore(path: string, log: Log, besideOwner: boolean): Promise<SqliteStore> {
  try {
    return await openSqliteStore({ path, log })
  } catch (error) {
    if (!besideOwner || !hasErrorCode(error, ErrorCode.storeOwned)) throw error
    return openSqliteStore({ path, log, mode: 'client' })
  }
}

function makeFolder(path: string): void {
  try {
    makeMissing(path)
  } catch (cause) {
    throw new HoldfastError('configuration_invalid', {
      message: `The folder ${path} for the database cannot be made.`,
      cause,
    })
  }
}

/** One folder after the other: Node's own `recursive` never ends where the system refuses with ENOENT. */
function makeMissing(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  makeMissing(dirname(path))
  mkdirSync(path)
}

/** What the page says about the model. */
function infoResponse(
  request: Request,
  info: { readonly model: string; readonly isDemo: boolean },
): Response | undefined {
  const { pathname } = new URL(request.url)
  return pathname === '/api/info' && request.method === 'GET' ? Response.json(info) : undefined
}

/** What is asked of the API and not there is an error, and no place in the page. */
function isApi(request: Request): boolean {
  return /^\/api(?:\/|$)/.test(new URL(request.url).pathname)
}

function notFound(): Response {
  return Response.json(
    { error: { code: 'not_found', message: 'There is nothing here.' } },
    { status: 404 },
  )
}

/** The same response, with the cookie of a session that is new. */
function withCookie(response: Response, { setCookie }: BrowserSession): Response {
  if (setCookie === undefined) return response
  const headers = new Headers(response.headers)
  headers.append('set-cookie', setCookie)
  return new Response(response.body, { status: response.status, headers })
}
