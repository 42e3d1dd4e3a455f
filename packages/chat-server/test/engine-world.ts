// A chat handler over the real engine, with an assistant that does what the person's words say.
import {
  type ConversationReader,
  type JsonObject,
  type JsonValue,
  sessionIdFor,
  type Store,
} from '@holdfast/core'
import { createEngine, type Engine } from '@holdfast/engine'
import { createMemoryDatabase, type MemoryDatabase } from '@holdfast/store-memory'
import { createRecordingLog } from '@holdfast/testing'
import { defineWorkflow } from '@holdfast/workflow'
import {
  type ChatHandler,
  type ChatHandlerOptions,
  createChatHandler,
  createConversationReader,
  createRunsHandler,
  type RunsHandler,
} from '../src/index.ts'

/** Lets a test decide when a step goes on. */
export interface Gates {
  /** Opens a gate, before or after somebody waits at it. */
  open(name: string): void
  /** Resolves once a step waits at the gate. */
  reached(name: string): Promise<void>
}

export interface EngineWorld {
  readonly database: MemoryDatabase
  readonly store: Store
  readonly engine: Engine
  readonly handler: ChatHandler
  readonly runs: RunsHandler
  readonly log: ReturnType<typeof createRecordingLog>
  readonly gates: Gates
  /** Words that the assistant has carried out, in order. */
  readonly done: readonly string[]
  handle(request: Request): Promise<Response | undefined>
}

const turnInput = {
  type: 'object',
  additionalProperties: false,
  required: ['chatId', 'messageId'],
  properties: { chatId: { type: 'string' }, messageId: { type: 'string' } },
} as const

const answerSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['approved'],
  properties: { approved: { type: 'boolean' }, reason: { type: 'string' } },
} as const

/** Starts a process: a store's node, an engine, the handlers. */
export function startProcess(
  database: MemoryDatabase = createMemoryDatabase(),
  options: Partial<ChatHandlerOptions> = {},
): EngineWorld {
  const store = database.open({ node: `node-${(processes += 1)}` })
  const log = createRecordingLog()
  const { gates, pass } = createGates()
  const done: string[] = []
  // The agent's definition needs the conversation, which needs the engine's supervisors.
  const conversation: ConversationReader = {
    turns: (sessionId, input) => reader.turns(sessionId, input),
  }
  const engine = createEngine({
    store,
    definitions: [assistant(conversation, pass, done)],
    log,
  })
  const reader = createConversationReader({ store, supervisors: engine.supervisors })
  const authorize = (request: Request): { readonly sessionId: string } => ({
    sessionId: sessionIdFor(request.headers.get('x-user') ?? 'ann'),
  })
  const limits = { requestsPerSecond: 1_000_000, ...options.limits }
  const common = { authorize, store, supervisors: engine.supervisors, log, limits }
  const handler = createChatHandler({
    ...common,
    agent: { name: 'assistant', version: 'v1' },
    ...options,
    limits,
  })
  const runs = createRunsHandler({
    ...common,
    catalog: engine.catalog,
    limits: { requestsPerSecond: 1_000_000 },
  })
  return {
    database,
    store,
    engine,
    handler,
    runs,
    log,
    gates,
    done,
    handle: async (request) => (await handler.handle(request)) ?? (await runs.handle(request)),
  }
}

let processes = 0

/**
 * The person's words, separated by commas: `say x` writes, `wait g` waits at a gate, `ask n` asks for n approvals at once, `fail` fails. Messages
 * that come while it goes are carried out after them.
 */
function assistant(
  conversation: ConversationReader,
  pass: (name: string, signal: AbortSignal) => Promise<void>,
  done: string[],
) {
  return defineWorkflow({
    name: 'assistant',
    version: 'v1',
    description: 'Does what it is told.',
    input: turnInput,
    resume: answerSchema,
    stream: {
      opening: ({ runId }) => [{ type: 'start', messageId: runId }],
      closing({ end }) {
        switch (end) {
          case 'completed':
          case 'interrupted':
            return [{ type: 'finish', finishReason: end === 'completed' ? 'stop' : 'tool-calls' }]
          case 'cancelled':
            return [{ type: 'abort', reason: 'cancelled' }]
          case 'failed':
            return [{ type: 'error', errorText: 'An error occurred.' }]
        }
      },
    },
    async run(context, input): Promise<JsonValue> {
      const { chatId, messageId } = input as { readonly chatId: string; readonly messageId: string }
      const before = await context.step('read', async () => {
        const turns = await conversation.turns(context.run.sessionId, { chatId, messageId })
        return turns.map(({ message }) => wordsOf(message))
      })
      const words = (before.at(-1) ?? '').split(',')
      let asked = 0
      for (let at = 0; at < words.length; at += 1) {
        const [verb = '', object = ''] = (words[at] ?? '').trim().split(' ')
        let answers: Readonly<Record<string, JsonObject>> = {}
        if (verb === 'ask') {
          const names = Array.from({ length: Number(object) }, () => `approve ${(asked += 1)}`)
          answers = await context.all(
            Object.fromEntries(
              names.map((name) => [
                name.replace(' ', '_'),
                async (inner: typeof context) =>
                  await inner.interrupt<JsonObject>(name, {
                    payload: {
                      kind: 'tool-approval',
                      toolCallId: name,
                      toolName: 'act',
                      input: {},
                    },
                    output: (interruptId) => [
                      {
                        type: 'tool-input-available',
                        toolCallId: name,
                        toolName: 'act',
                        input: {},
                      },
                      { type: 'tool-approval-request', approvalId: interruptId, toolCallId: name },
                    ],
                  }),
              ]),
            ),
          )
        }
        await context.step(
          `${at} ${verb} ${object}`,
          async ({ output, signal }) => {
            if (verb === 'fail') throw new Error('told to fail')
            if (verb === 'wait') await pass(object, signal)
            for (const [name, { approved }] of Object.entries(answers)) {
              const toolCallId = name.replace('_', ' ')
              await output.write(
                approved === true
                  ? { type: 'tool-output-available', toolCallId, output: 'acted' }
                  : { type: 'tool-output-denied', toolCallId },
              )
            }
            const id = `t${at}`
            await output.write({ type: 'text-start', id })
            for (const letter of object)
              await output.write({ type: 'text-delta', id, delta: letter })
            await output.write({ type: 'text-end', id })
            done.push(`${verb} ${object}`)
          },
          { retries: 0 },
        )
        for (const { id, body } of context.messages()) {
          const message = body as JsonObject
          const { parts } = message
          await context.output(`steered ${id}`, [
            { type: 'steering-message', id, parts: parts ?? [] },
          ])
          words.push(...wordsOf(message).split(','))
        }
      }
      return { before, words }
    },
  })
}

function wordsOf(message: JsonObject): string {
  return /"text":"([^"]*)"/.exec(JSON.stringify(message))?.[1] ?? ''
}

function createGates(): {
  readonly gates: Gates
  readonly pass: (name: string, signal: AbortSignal) => Promise<void>
} {
  const opened = new Set<string>()
  const waiting = new Map<string, () => void>()
  const arrived = new Set<string>()
  const watchers = new Map<string, () => void>()
  return {
    gates: {
      open(name) {
        opened.add(name)
        waiting.get(name)?.()
      },
      async reached(name) {
        if (arrived.has(name)) return
        await new Promise<void>((resolve) => watchers.set(name, resolve))
      },
    },
    async pass(name, signal) {
      arrived.add(name)
      watchers.get(name)?.()
      if (opened.has(name)) return
      await new Promise<void>((resolve, reject) => {
        waiting.set(name, resolve)
        signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
      })
    },
  }
}
