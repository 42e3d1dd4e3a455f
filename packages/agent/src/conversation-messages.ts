import type { ConversationTurn, JsonObject, JsonValue } from '@holdfast/core'
import { isJsonObject, plainObject } from './plain-json.ts'
import { userMessageFromUi } from './steering.ts'

/**
 * A chat's turns as messages for the model, JSON throughout: each person's message, then what the run that answered it
 * left, also when it was stopped or failed. The last turn is the one to be answered.
 */
export function messagesFromTurns(turns: readonly ConversationTurn[]): readonly JsonObject[] {
  return turns.flatMap((turn, index) => {
    const asked = plainObject(userMessageFromUi(turn.message))
    const answered = index === turns.length - 1 ? [] : answerMessages(turn.output)
    return [asked, ...answered]
  })
}

function answerMessages(output: JsonValue | undefined): readonly JsonObject[] {
  const messages = isJsonObject(output) ? output['messages'] : undefined
  if (!Array.isArray(messages)) return []
  const list: readonly JsonValue[] = messages
  return list.filter(isJsonObject)
}
