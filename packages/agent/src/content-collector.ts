// Turns the parts of one model call into what is emitted and what is recorded.
//
// Owns:  the blocks that are open, the recorded content so far, the ids given to blocks.
// Never: calls a model or a tool.
//
// K1. Every block that was started is ended, by the model or by `endOpenBlocks`.
// K2. No two blocks of a run carry the same id: one that comes again gets a suffix.
// K3. No emitted text ends in half a surrogate pair; the half is held back until its partner comes.
// K4. Metadata of a block's parts is merged, provider by provider: what came later is added.
import type {
  LanguageModelV4File,
  LanguageModelV4ReasoningFile,
  LanguageModelV4StreamPart,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider'
import { convertToBase64 } from '@ai-sdk/provider-utils'
import type { ModelCallStreamPart } from './model-call-part.ts'
import type { RecordedPart } from './model-call-record.ts'
import { isJsonObject, plainJson, plainObject, wellFormed } from './plain-json.ts'
import type { ToolDescription } from './tool-description.ts'

type BlockKind = 'text' | 'reasoning'
type Emit = (part: ModelCallStreamPart) => Promise<void>

/** Parts of a stream that are about content; the rest is the model call's own affair. */
export type ContentPart = Exclude<
  LanguageModelV4StreamPart,
  {
    type:
      | 'stream-start'
      | 'response-metadata'
      | 'finish'
      | 'error'
      | 'raw'
      | 'ping'
      | 'tool-call'
      | 'tool-approval-request'
  }
>

interface Block {
  readonly kind: BlockKind
  readonly id: string
  readonly position: number
  text: string
  held: string
  citations: readonly object[]
  metadata: SharedV4ProviderMetadata | undefined
}

/** Collects one attempt of one model call. */
export class ContentCollector {
  private readonly emit: Emit
  private readonly describeTool: (toolName: string) => ToolDescription
  private readonly taken: ReadonlySet<string>
  private readonly suffix: string
  private readonly given = new Set<string>()
  private readonly open = new Map<string, Block>()
  private readonly parts: (RecordedPart | undefined)[] = []
  private readonly heldInputs = new Map<string, string>()

  constructor(
    emit: Emit,
    ids: { readonly taken: ReadonlySet<string>; readonly suffix: string },
    describeTool: (toolName: string) => ToolDescription,
  ) {
    this.emit = emit
    this.describeTool = describeTool
    this.taken = ids.taken
    this.suffix = ids.suffix
  }

  /** What was collected, in the order in which it began. */
  get content(): RecordedPart[] {
    return this.parts.filter((part) => part !== undefined)
  }

  get isEmpty(): boolean {
    return this.parts.length === 0
  }

  async accept(part: ContentPart): Promise<void> {
    switch (part.type) {
      case 'text-start':
        return this.start('text', part.id, part.providerMetadata)
      case 'reasoning-start':
        return this.start('reasoning', part.id, part.providerMetadata)
      case 'text-delta':
        return this.append('text', part)
      case 'reasoning-delta':
        return this.append('reasoning', part)
      case 'text-end':
        return this.end('text', part.id, part.providerMetadata, part.citations)
      case 'reasoning-end':
        return this.end('reasoning', part.id, part.providerMetadata)
      case 'tool-input-start':
        return this.emit({ ...part, ...this.describeTool(part.toolName) })
      case 'tool-input-delta':
        return this.appendInput(part.id, part.delta)
      case 'tool-input-end':
        return this.endInput(part.id)
      case 'tool-result':
        return this.addToolResult(part)
      case 'file':
      case 'reasoning-file':
        return this.addFile(part)
      case 'source':
        this.parts.push(plainObject(part) as RecordedPart)
        return this.emit(part)
      case 'custom':
        this.parts.push({ type: 'custom', kind: part.kind, ...metadataOf(part.providerMetadata) })
        return this.emit(part)
    }
  }

  /** Adds a part that was dealt with elsewhere, at its place. */
  add(part: RecordedPart): void {
    this.parts.push(part)
  }

  /** Ends what the model left open: it was cut. */
  async endOpenBlocks(): Promise<void> {
    for (const key of [...this.open.keys()]) await this.endBlock(key)
  }

  private async start(
    kind: BlockKind,
    modelId: string,
    metadata: SharedV4ProviderMetadata | undefined,
  ): Promise<void> {
    const key = `${kind}:${modelId}`
    if (this.open.has(key)) await this.endBlock(key)
    const id = this.freshId(modelId)
    const position = this.parts.push(undefined) - 1
    this.open.set(key, { kind, id, position, text: '', held: '', citations: [], metadata })
    await this.emit({ type: `${kind}-start`, id, ...metadataOf(metadata) })
  }

  private async append(
    kind: BlockKind,
    part: { id: string; delta: string; providerMetadata?: SharedV4ProviderMetadata },
  ): Promise<void> {
    const key = `${kind}:${part.id}`
    if (!this.open.has(key)) await this.start(kind, part.id, undefined)
    const block = this.open.get(key)
    if (block === undefined) return
    const { whole, held } = splitHalf(block.held + part.delta)
    block.held = held
    block.text += whole
    block.metadata = merged(block.metadata, part.providerMetadata)
    if (whole === '' && part.providerMetadata === undefined) return
    const { id } = block
    await this.emit({
      type: `${kind}-delta`,
      id,
      text: whole,
      ...metadataOf(part.providerMetadata),
    })
  }

  private async end(
    kind: BlockKind,
    modelId: string,
    metadata: SharedV4ProviderMetadata | undefined,
    citations: readonly object[] = [],
  ): Promise<void> {
    const key = `${kind}:${modelId}`
    const block = this.open.get(key)
    if (block === undefined) return
    block.metadata = merged(block.metadata, metadata)
    block.citations = citations
    await this.endBlock(key, metadata)
  }

  private async endBlock(key: string, metadata?: SharedV4ProviderMetadata): Promise<void> {
    const block = this.open.get(key)
    if (block === undefined) return
    this.open.delete(key)
    const { kind, id, held, position } = block
    if (held !== '') {
      block.text += wellFormed(held)
      await this.emit({ type: `${kind}-delta`, id, text: wellFormed(held) })
    }
    this.parts[position] = recordedBlock(block)
    const citations = block.citations.length === 0 ? {} : { citations: block.citations }
    await this.emit({
      type: `${kind}-end`,
      id,
      ...citations,
      ...metadataOf(metadata),
    } as ModelCallStreamPart)
  }

  private async appendInput(id: string, delta: string): Promise<void> {
    const { whole, held } = splitHalf((this.heldInputs.get(id) ?? '') + delta)
    this.heldInputs.set(id, held)
    if (whole !== '') await this.emit({ type: 'tool-input-delta', id, delta: whole })
  }

  private async endInput(id: string): Promise<void> {
    const held = this.heldInputs.get(id) ?? ''
    this.heldInputs.delete(id)
    if (held !== '') await this.emit({ type: 'tool-input-delta', id, delta: wellFormed(held) })
    await this.emit({ type: 'tool-input-end', id })
  }

  private async addToolResult(part: Extract<ContentPart, { type: 'tool-result' }>): Promise<void> {
    const { toolCallId, toolName, isError, preliminary } = part
    const result = plainJson(part.result) ?? null
    const origin = {
      ...(part.dynamic === undefined ? {} : { dynamic: part.dynamic }),
      ...metadataOf(part.providerMetadata),
    }
    if (preliminary !== true) {
      const failed = isError === true ? { isError } : {}
      this.parts.push({ type: 'tool-result', toolCallId, toolName, result, ...failed, ...origin })
    }
    const executed = { providerExecuted: true, ...origin }
    if (isError === true) {
      const errorText = typeof result === 'string' ? result : JSON.stringify(result)
      return this.emit({ type: 'tool-error', toolCallId, toolName, errorText, ...executed })
    }
    const early = preliminary === true ? { preliminary } : {}
    await this.emit({
      type: 'tool-result',
      toolCallId,
      toolName,
      output: result,
      ...early,
      ...executed,
    })
  }

  private async addFile(part: LanguageModelV4File | LanguageModelV4ReasoningFile): Promise<void> {
    const { type, mediaType, data } = part
    const kept =
      data.type === 'url'
        ? { type: 'url' as const, url: data.url.toString() }
        : { type: 'data' as const, data: convertToBase64(data.data) }
    this.parts.push({ type, mediaType, data: kept, ...metadataOf(part.providerMetadata) })
    await this.emit(part)
  }

  private freshId(modelId: string): string {
    let id = modelId
    for (let round = 0; this.taken.has(id) || this.given.has(id); round += 1) {
      id = round === 0 ? `${modelId}.${this.suffix}` : `${modelId}.${this.suffix}.${round}`
    }
    this.given.add(id)
    return id
  }
}

function recordedBlock(block: Block): RecordedPart {
  const { kind, id, text, metadata, citations } = block
  const cited =
    citations.length === 0 ? {} : { citations: citations.map((citation) => plainObject(citation)) }
  return { type: kind, id, text, ...cited, ...metadataOf(metadata) }
}

/** Text without a leading half of a surrogate pair at its end, and that half. */
function splitHalf(text: string): { readonly whole: string; readonly held: string } {
  const last = text.charCodeAt(text.length - 1)
  const cut = last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
  return { whole: wellFormed(text.slice(0, cut)), held: text.slice(cut) }
}

function merged(
  earlier: SharedV4ProviderMetadata | undefined,
  later: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier
  const both: SharedV4ProviderMetadata = { ...earlier }
  for (const [provider, values] of Object.entries(later)) {
    both[provider] = { ...both[provider], ...values }
  }
  return both
}

/** Metadata as JSON, so that what is emitted, recorded and sent back is the same. */
export function metadataOf(metadata: SharedV4ProviderMetadata | undefined): {
  providerMetadata?: SharedV4ProviderMetadata
} {
  const plain = metadata === undefined ? undefined : plainJson(metadata)
  return isJsonObject(plain) ? { providerMetadata: plain as SharedV4ProviderMetadata } : {}
}
