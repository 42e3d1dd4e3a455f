import type { DefinitionReference, JsonObject } from '@holdfast/core'
import type { ChatPorts } from './chat-ports.ts'

/** The definition that is to answer. */
export async function chooseDefinition(
  { agent }: ChatPorts,
  sessionId: string,
  chatId: string,
  body: JsonObject,
): Promise<DefinitionReference> {
  const { name, version } =
    typeof agent === 'function' ? await agent({ sessionId, chatId, body }) : agent
  return { name, version }
}
