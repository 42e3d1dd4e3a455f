// A chat as one browser has it: what was said, and the tabs that read it.
//
// Owns:  the messages as a page has them.
// Asks:  a transport of its own for each reader.
// Never: sends a message again with another id, counts as acknowledged what no answer said.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { ChatDisconnectedError, ChatTransportError } from '@holdfast/chat-client'
import { indexFromHeader, startIndexHeader } from '@holdfast/chat-protocol'
import type { UiChunk } from '@holdfast/chat-protocol'
import type { UIMessage, UIMessageChunk } from 'ai'
import { RefusedError } from './browser.ts'
import type { Browser } from './browser.ts'
import { readAsEventSource } from './event-source.ts'
import type { Reading, RightEnd } from './evidence.ts'
import { Follower } from './follower.ts'
import type { LedgerRun } from './ledger.ts'
import type { MomentKind } from './moments.ts'
import { sdkMessage } from './sdk-message.ts'
import { placeOf, Tab } from './tab.ts'
import type { Place } from './tab.ts'

/** What an answer must come to. */
export interface ExpectedAnswer {
  readonly text: string
  readonly rightEnds: readonly RightEnd[]
}

/** What a stop was answered with. */
export interface StopAnswer {
  /** The run had ended before, or an earlier stop was there. */
  readonly alreadyEnded: boolean
}

interface Sending {
  readonly reader: string
  readonly moments: readonly [sent: MomentKind, acknowledged: MomentKind]
  /** Told at once when the answer's headers are there. */
  readonly onAcknowledged: (place: Place) => void
}

interface Opened {
  readonly stream: ReadableStream<UIMessageChunk>
  readonly response: Response
}

/** A chat of a browser. */
export class Chat {
  readonly id: string = randomUUID()
  readonly browser: Browser
  readonly scenario: string
  /** As a page has them. */
  readonly messages: UIMessage[] = []

  constructor(browser: Browser, scenario: string) {
    this.browser = browser
    this.scenario = scenario
  }

  /** Says something and follows the answer. Resolves once it is acknowledged. */
  async say(scenario: string, text: string, expected: ExpectedAnswer): Promise<Follower> {
    const message = userMessage(text)
    this.messages.push(message)
    return await this.#send(this.messages, {
      reader: 'the first reader',
      moments: ['message-sent', 'message-acknowledged'],
      onAcknowledged: (place) => {
        this.#acknowledgeMessage(scenario, message.id)
        this.acknowledge(scenario, place, expected)
      },
    })
  }

  /** Says something in a second tab while an answer is under way. */
  async interject(
    scenario: string,
    text: string,
  ): Promise<{ messageId: string; follower: Follower }> {
    const message = userMessage(text)
    const follower = await this.#send([...this.messages, message], {
      reader: 'the tab that steers',
      moments: ['steering-sent', 'steering-acknowledged'],
      onAcknowledged: (place) => {
        this.#acknowledgeMessage(scenario, message.id)
        const { ledger, number } = this.browser
        const { runId, streamId } = place
        const answer = { runId, chatId: this.id, scenario, browser: number, text: '' }
        ledger.acknowledgeAnswer(answer, streamId)
        const rightEnds = [{ status: 'completed' }] as const
        const run = ledger.acknowledgeRun({ runId, scenario, browser: number, rightEnds })
        if (run.state === 'asking') run.state = 'going'
      },
    })
    return { messageId: message.id, follower }
  }

  /** Sends the assistant's message back with a decision in it, and follows what comes of it. */
  async decide(
    scenario: string,
    assistant: UIMessage,
    expected: ExpectedAnswer,
  ): Promise<Follower> {
    return await this.#send([...this.messages, assistant], {
      reader: 'the first reader',
      moments: ['decision-sent', 'decision-acknowledged'],
      onAcknowledged: (place) => {
        this.acknowledge(scenario, place, expected).state = 'going'
      },
    })
  }

  /**
   * Waits for the end of an answer, of which each stream had a follower, and keeps the message as a
   * page does.
   */
  async finish(...followers: readonly Follower[]): Promise<UIMessage> {
    const chunks: UiChunk[] = []
    for (const { reading } of followers) {
      const { end, failure, chunks: read } = await reading
      if (end !== 'finished') throw new RefusedError(`an answer did not end: ${failure ?? end}`)
      chunks.push(...read)
    }
    const message = await sdkMessage(chunks)
    const at = this.messages.findIndex(({ id }) => id === message.id)
    this.messages.splice(at === -1 ? this.messages.length : at, 1, message)
    return message
  }

  /** Says what an answer must say, once that is known. */
  expectText(runId: string, text: string): void {
    const answer = this.browser.ledger.answers.get(runId)
    if (answer !== undefined) answer.text = text
  }

  /** Joins what the chat says at the moment, by its id. Resolves with null when that is nothing. */
  async join(reader: string, startIndex: number): Promise<Follower | null> {
    const { number, ledger } = this.browser
    const tab = new Tab(this.browser)
    let opened: Response | undefined
    const stream = await tab
      .transport((response) => {
        opened ??= response
      })
      .reconnectToStream({ chatId: this.id, startIndex, abortSignal: tab.signal })
    if (stream === null || opened === undefined) return null
    const place = placeOf(opened)
    const known = ledger.answers.get(place.runId)
    if (known === undefined) {
      throw new RefusedError(
        `browser ${number}: chat ${this.id} is said to be at run ${place.runId}`,
      )
    }
    const { readings } = ledger.acknowledgeAnswer(known, place.streamId)
    return this.#follow({
      reader,
      place,
      readings,
      asked: startIndex,
      tab,
      opened: { stream, response: opened },
    })
  }

  /** Reads a stream that somebody follows already as an event source. */
  async listen({ runId, streamId }: Follower): Promise<void> {
    const reading = await readAsEventSource(this.browser, streamId)
    this.browser.ledger.answers.get(runId)?.streams.get(streamId)?.push(reading)
  }

  /** Stops the chat, as the page's button does. */
  async stop(): Promise<StopAnswer> {
    const { ledger } = this.browser
    let answered: Promise<unknown> = Promise.resolve()
    const tab = new Tab(this.browser)
    ledger.moments.note('cancel-sent')
    await tab
      .transport((response) => {
        answered = response.clone().json()
      })
      .stop({ chatId: this.id, abortSignal: tab.signal })
    ledger.moments.note('cancel-acknowledged')
    const body = await answered.catch(() => undefined)
    const ended = typeof body === 'object' && body !== null && 'alreadyEnded' in body
    return { alreadyEnded: !ended || body.alreadyEnded !== false }
  }

  /** The server has promised a run that answers here. */
  acknowledge(scenario: string, { runId, streamId }: Place, expected: ExpectedAnswer): LedgerRun {
    const { ledger, number: browser } = this.browser
    const { text, rightEnds } = expected
    const { answer } = ledger.acknowledgeAnswer(
      { runId, chatId: this.id, scenario, browser, text },
      streamId,
    )
    answer.text = text
    const run = ledger.acknowledgeRun({ runId, scenario, browser, rightEnds })
    run.rightEnds = rightEnds
    return run
  }

  #acknowledgeMessage(scenario: string, messageId: string): void {
    const { ledger, number } = this.browser
    ledger.acknowledgeMessage({ chatId: this.id, scenario, browser: number }, messageId)
  }

  async #send(messages: readonly UIMessage[], sending: Sending): Promise<Follower> {
    const { ledger, random, deadline } = this.browser
    const [sent, acknowledged] = sending.moments
    for (;;) {
      const tab = new Tab(this.browser)
      let answered: Response | undefined
      ledger.moments.note(sent)
      try {
        const stream = await tab
          .transport(undefined, (response) => {
            answered = response
            sending.onAcknowledged(placeOf(response))
            ledger.moments.note(acknowledged)
          })
          .sendMessages({
            trigger: 'submit-message',
            chatId: this.id,
            messages: [...messages],
            abortSignal: tab.signal,
          })
        if (answered === undefined) throw new RefusedError('a POST without an answer')
        const place = placeOf(answered)
        const readings = ledger.answers.get(place.runId)?.streams.get(place.streamId) ?? []
        return this.#follow({
          reader: sending.reader,
          place,
          readings,
          asked: 0,
          tab,
          opened: { stream, response: answered },
        })
      } catch (error) {
        deadline.throwIfAborted()
        if (!mayBeSentAgain(error)) throw error
      }
      await pause(random.between(30, 120))
    }
  }

  #follow(input: {
    readonly reader: string
    readonly place: Place
    readonly readings: Reading[]
    readonly asked: number
    readonly tab: Tab
    readonly opened: Opened
  }): Follower {
    const { reader, place, readings, asked, tab, opened } = input
    const { ledger } = this.browser
    const follower = new Follower({
      ...place,
      reader,
      asked,
      from:
        asked >= 0 ? asked : (indexFromHeader(opened.response.headers.get(startIndexHeader)) ?? -1),
      stream: opened.stream,
      end: tab.end,
      moments: ledger.moments,
      onStep: () => {
        const run = ledger.runs.get(place.runId)
        if (run !== undefined) run.moves += 1
      },
      leave: tab.leave,
    })
    void this.#keep(follower, readings, tab)
    return follower
  }

  /** Keeps what a reader got, once it has ended. */
  async #keep(follower: Follower, readings: Reading[], tab: Tab): Promise<void> {
    const { ledger } = this.browser
    const reading = await follower.reading
    readings.push(reading)
    ledger.reconnects += tab.reconnects()
    const run = ledger.runs.get(follower.runId)
    if (run !== undefined && reading.end === 'finished') {
      run.state = isAsking(reading) ? 'asking' : 'ended'
    }
  }
}

function userMessage(text: string): UIMessage {
  return { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] }
}

/** The answer was lost or put off: the same message may be sent again. */
function mayBeSentAgain(error: unknown): boolean {
  if (error instanceof ChatDisconnectedError) return true
  return error instanceof ChatTransportError && (error.status === 503 || error.status === 429)
}

/** The stream ended because a person is asked. */
function isAsking({ chunks }: Reading): boolean {
  const last = chunks.at(-1)
  return last?.type === 'finish' && last.finishReason === 'tool-calls'
}
