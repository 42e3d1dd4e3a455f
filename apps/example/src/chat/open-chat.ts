// One chat on the page, from its messages' arrival until the page turns to another.
//
// Owns:  AI SDK's chat object and its transport, the messages that wait to be taken up, what went wrong.
// Asks:  the server for everything that lasts.
// Never: stops a run because the page goes away.
//
// O1. At most one stream is read at a time: what is said while an answer is being written is posted, and its stream is not read.
// O2. What was posted and not taken up by the answer is posted again with the same id once the answer has ended; the server then
//     answers with the stream of its own turn. After a stop it waits for the next message, as on the server.
// O3. Decisions go out together once the message has no open question left, and only what was decided on this page goes out.
// O4. After `dispose` nothing is asked and nobody is told.

import { Chat } from '@ai-sdk/react'
import { type ChatOutcome, WorkflowChatTransport } from '@holdfast/chat-client'
import { generateId, type UIMessage } from 'ai'
import { RequestError, request } from '../api/request.ts'
import { type ChatContents, chatPath, loadChat } from '../chats/chat-api.ts'
import { openApprovals } from './message-blocks.ts'
import {
  brokenAt,
  changeAtEnd,
  changed,
  changeFrom,
  connectionAfter,
  notTaken,
  type OpenChatChange,
  type OpenChatState,
  personMessage,
  released,
  textOfMessage,
  unknownChat,
  type WaitingMessage,
  withApprovalsTakenBack,
} from './open-chat-state.ts'
import { type FailedRequest, problemFrom, type Remedy } from './problem.ts'

/** What an open chat is made with. */
export interface OpenChatOptions {
  readonly id: string
  /** What the server has of it. Absent: nothing yet. */
  readonly contents?: ChatContents
  /** The server has accepted a message or a decision. */
  readonly onAccepted: () => void
}

const maxConsecutiveErrors = 200
const backoff = { initialDelayMs: 250, maxDelayMs: 3_000 }

/** A chat that can be read, written to, stopped and taken up again. */
export class OpenChat {
  readonly id: string
  readonly chat: Chat<UIMessage>
  readonly #transport: WorkflowChatTransport
  readonly #onAccepted: () => void
  readonly #listeners = new Set<() => void>()
  #state = unknownChat
  #isDisposed = false
  #hasUnsentDecisions = false
  #lastRequest: FailedRequest = { kind: 'resume', wasAccepted: false }
  #outcome: ChatOutcome | undefined
  #activeStreamId: string | undefined
  #earlier: string | undefined

  constructor({ id, contents, onAccepted }: OpenChatOptions) {
    this.id = id
    this.#onAccepted = onAccepted
    this.#transport = new WorkflowChatTransport({
      api: chatPath,
      maxConsecutiveErrors,
      backoff,
      onChatSendMessage: () => {
        this.#lastRequest = { ...this.#lastRequest, wasAccepted: true }
        this.#hasUnsentDecisions = false
        this.#onAccepted()
      },
      onConnectionChange: (change) => this.#change({ connection: connectionAfter(change) }),
      onChatEnd: ({ outcome }) => {
        this.#outcome = outcome
      },
      // The history is the server's: only what is new goes there.
      prepareSendMessagesRequest: ({ id: chatId, messages: all, trigger, messageId }) => {
        const named = all.find((message) => message.id === messageId)
        const sent = named?.role === 'assistant' ? [named] : all.slice(-1)
        return { body: { id: chatId, messages: sent, trigger, messageId } }
      },
      // By its own id a stream is there also when it has ended in the meantime.
      prepareReconnectToStreamRequest: ({ api, runId }) => {
        const streamId = runId === undefined ? this.#activeStreamId : undefined
        return { api: streamId === undefined ? api : `${chatPath}/${streamId}/stream` }
      },
    })
    this.chat = new Chat({ id, messages: [], transport: this.#transport, generateId })
    if (contents !== undefined) this.#take(contents)
  }

  /** The state now. The same object until something has changed. */
  readonly state = (): OpenChatState => this.#state

  /** Calls back after each change; returns what ends that. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Goes on with what the server has: reads the answer that is being written, sends what waited for its end. */
  async begin(): Promise<void> {
    await (this.#activeStreamId === undefined ? this.#goOn() : this.#resume())
  }

  /** Says something: it begins a turn, or is told to the answer that is being written. */
  async send(text: string): Promise<void> {
    const message = personMessage(generateId(), text)
    const isAsking = openApprovals(this.#lastAnswer()).length > 0
    if (!this.#isBusy() && !isAsking && this.#state.waiting.length === 0) {
      await this.#request('send', () => this.chat.sendMessage(message))
      return
    }
    const waiting = released(this.#state.waiting)
    this.#change({ waiting: [...waiting, { id: message.id, text, state: 'sending' }] })
    if (await this.#post(message.id, text)) await this.#followPosted()
  }

  /** Posts a waiting message again that did not arrive. */
  async sendWaiting(id: string): Promise<void> {
    const waiting = this.#state.waiting.find((message) => message.id === id)
    if (waiting === undefined) return
    this.dismissProblem()
    this.#setWaiting(id, { state: 'sending' })
    if (await this.#post(id, waiting.text)) await this.#followPosted()
  }

  /** Gives up a waiting message that did not arrive. */
  discardWaiting(id: string): void {
    this.dismissProblem()
    this.#change({ waiting: this.#state.waiting.filter((message) => message.id !== id) })
  }

  /** Answers whether a tool may run. The answers of a message go out together, with the last one. */
  async decide(approvalId: string, approved: boolean, reason: string): Promise<void> {
    this.#hasUnsentDecisions = true
    await this.chat.addToolApprovalResponse({
      id: approvalId,
      approved,
      ...(reason === '' ? {} : { reason }),
    })
    if (!this.#isBusy()) await this.#goOn()
  }

  /** Stops the answer for good; what was written is kept. */
  async stop(): Promise<void> {
    this.#change({ isStopping: true, problem: undefined })
    try {
      await this.#transport.stop({ chatId: this.id })
    } catch (error) {
      const failed: FailedRequest = { kind: 'stop', wasAccepted: false }
      this.#change({ isStopping: false, problem: problemFrom(error, failed) })
    }
  }

  /** Does what a problem's button says. */
  async remedy(remedy: Remedy): Promise<void> {
    switch (remedy) {
      case 'reconnect':
        return await this.#reconnect()
      case 'answer-again':
        return await this.regenerate()
      case 'stop-again':
        return await this.stop()
      case 'send-again':
        return await this.#sendAgain()
    }
  }

  /** Has the last answer made anew. */
  async regenerate(): Promise<void> {
    await this.#request('regenerate', () => this.chat.regenerate())
  }

  /** Shows earlier messages above those that are there. */
  async showEarlier(): Promise<void> {
    const before = this.#earlier
    if (before === undefined) return
    this.#earlier = undefined
    try {
      const { messages, earlier } = await loadChat(this.id, { before })
      const known = new Set(this.chat.messages.map(({ id }) => id))
      const added = messages.filter(({ id }) => !known.has(id))
      this.chat.messages = [...added, ...this.chat.messages]
      this.#earlier = earlier
      this.#change({ hasEarlier: earlier !== undefined })
    } catch (error) {
      this.#earlier = before
      this.#change({ problem: problemFrom(error, { kind: 'resume', wasAccepted: true }) })
    }
  }

  /** Forgets what went wrong. */
  dismissProblem(): void {
    this.chat.clearError()
    this.#change({ problem: undefined })
  }

  /** Lets go of the chat; its run goes on. */
  dispose(): void {
    this.#isDisposed = true
    this.#listeners.clear()
    void this.chat.dispose()
  }

  async #request(kind: FailedRequest['kind'], start: () => Promise<void>): Promise<void> {
    this.#lastRequest = { kind, wasAccepted: false }
    this.#outcome = undefined
    this.#change({ problem: undefined })
    await start()
    if (this.#isDisposed) return
    this.#activeStreamId = undefined
    this.#change(changeAtEnd(this.#state, this.#outcome, this.chat.messages.at(-1)))
    if (this.chat.status === 'error') {
      const problem = problemFrom(this.chat.error, this.#lastRequest)
      const hasFailed = problem.remedy === 'answer-again'
      const broken = hasFailed ? brokenAt(this.#state, this.chat.messages.at(-1), 'failed') : {}
      this.#change({ ...broken, problem })
      this.#setUnsentAside()
    } else if (this.#outcome === undefined || this.#outcome === 'inactive') {
      await this.#reconnect()
    } else {
      await this.#goOn()
    }
  }

  async #resume(): Promise<void> {
    await this.#request('resume', () => this.chat.resumeStream())
  }

  /** The end was not seen: the server has what there is. */
  async #reconnect(): Promise<void> {
    try {
      const contents = await loadChat(this.id)
      if (this.#isDisposed || this.#isBusy()) return
      this.dismissProblem()
      this.#take(contents)
    } catch (error) {
      this.#change({ problem: problemFrom(error, { kind: 'resume', wasAccepted: true }) })
      return
    }
    await this.begin()
  }

  #take(contents: ChatContents): void {
    this.chat.messages = [...contents.messages]
    this.#activeStreamId = contents.activeStreamId
    this.#earlier = contents.earlier
    this.#change(changeFrom(contents))
  }

  /** What is to be done once nothing is being read. */
  async #goOn(): Promise<void> {
    this.#change({ waiting: notTaken(this.#state.waiting, this.chat.messages) })
    const isAsking = openApprovals(this.#lastAnswer()).length > 0
    if (isAsking || this.#isBusy() || this.#isDisposed) return
    if (this.#hasUnsentDecisions) {
      await this.#request('decide', () => this.chat.sendMessage())
      return
    }
    const next = this.#state.waiting.find(({ state }) => state === 'accepted')
    if (next === undefined) return
    this.#change({ waiting: this.#state.waiting.filter((message) => message !== next) })
    await this.#request('send', () => this.chat.sendMessage(personMessage(next.id, next.text)))
  }

  /** After a post while nothing is being read: the questions that were open are taken back by it, and the answer goes on. */
  async #followPosted(): Promise<void> {
    if (this.#isBusy() || this.#isDisposed) return
    const answer = this.#lastAnswer()
    if (openApprovals(answer).length === 0) return await this.#goOn()
    this.chat.messages = this.chat.messages.map((message) =>
      message.id === answer?.id ? withApprovalsTakenBack(message) : message,
    )
    await this.#resume()
  }

  /** Posts a message whose stream is not read. Says whether it was accepted. */
  async #post(id: string, text: string): Promise<boolean> {
    try {
      const response = await request(chatPath, {
        method: 'POST',
        accept: 'text/event-stream',
        body: { id: this.id, messages: [personMessage(id, text)], trigger: 'submit-message' },
      })
      void response.body?.cancel().catch(() => undefined)
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      this.#setWaiting(id, { state: 'failed', problem: error.message })
      return false
    }
    this.#setWaiting(id, { state: 'accepted' })
    this.#onAccepted()
    return true
  }

  /** A message that was not accepted is no message of the chat yet. */
  #setUnsentAside(): void {
    const { kind, wasAccepted } = this.#lastRequest
    const last = this.chat.messages.at(-1)
    if (kind !== 'send' || wasAccepted || last?.role !== 'user') return
    this.chat.messages = this.chat.messages.slice(0, -1)
    const unsent = { id: last.id, text: textOfMessage(last), state: 'failed' } as const
    this.#change({ waiting: [unsent, ...this.#state.waiting] })
  }

  /** Posts what was not accepted: the same messages with the same ids, or the decisions. */
  async #sendAgain(): Promise<void> {
    this.dismissProblem()
    if (this.#hasUnsentDecisions) {
      return await this.#request('decide', () => this.chat.sendMessage())
    }
    for (const { id, state } of this.#state.waiting) {
      if (state === 'failed') await this.sendWaiting(id)
    }
  }

  #setWaiting(id: string, change: Pick<WaitingMessage, 'state' | 'problem'>): void {
    this.#change({
      waiting: this.#state.waiting.map((message) =>
        message.id === id ? { id, text: message.text, ...change } : message,
      ),
    })
  }

  #lastAnswer(): UIMessage | undefined {
    return this.chat.messages.findLast((message) => message.role === 'assistant')
  }

  #isBusy(): boolean {
    return this.chat.status === 'submitted' || this.chat.status === 'streaming'
  }

  #change(change: OpenChatChange): void {
    if (this.#isDisposed) return
    this.#state = changed(this.#state, change)
    for (const listener of this.#listeners) listener()
  }
}
