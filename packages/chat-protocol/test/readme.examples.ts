// #region frames
import {
  createSseDecoder,
  frameFromChunk,
  isTerminalChunk,
  parseUiChunk,
} from '@holdfast/chat-protocol'

const frame = frameFromChunk({ type: 'text-delta', id: '1', delta: 'low tide' }, { index: 7 })

export const seen: string[] = []
const decoder = createSseDecoder()
for (const item of decoder.push(frame)) {
  if (item.kind === 'comment') continue
  const chunk = parseUiChunk(item.data)
  seen.push(`${item.id} ${chunk.type} ${isTerminalChunk(chunk)}`) // 7 text-delta false
}
// #endregion frames
