import { downloadBlob, isUrlSupported } from '@ai-sdk/provider-utils'
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider'
import { ErrorCode, HoldfastError } from '@holdfast/core'

/** One file to be fetched, for a model that cannot fetch it by itself. */
export interface DownloadRequest {
  readonly url: URL
  /** Whether the model takes the URL as it is: then nothing need be fetched. */
  readonly isUrlSupportedByModel: boolean
}

/** A file's bytes, or `null` to hand the URL through to the provider. */
export type DownloadedFile = {
  readonly data: Uint8Array
  readonly mediaType: string | undefined
} | null

/** Fetches the files of one prompt, in their order. */
export type Download = (
  requests: DownloadRequest[],
) => PromiseLike<readonly DownloadedFile[]> | readonly DownloadedFile[]

/** What a model says it can fetch: patterns of URLs by media type. */
export type SupportedUrls = Readonly<Record<string, RegExp[]>>

/**
 * Fetches only what the model cannot, over HTTP(S), and refuses addresses of this machine and of private networks, also
 * behind redirects. A name that resolves to such an address is the network's to refuse.
 */
export function guardedDownload(signal: AbortSignal): Download {
  return (requests) =>
    Promise.all(
      requests.map(async ({ url, isUrlSupportedByModel }) => {
        if (isUrlSupportedByModel) return null
        const blob = await downloadBlob(url.href, { abortSignal: signal })
        const mediaType = blob.type === '' ? undefined : blob.type
        return { data: new Uint8Array(await blob.arrayBuffer()), mediaType }
      }),
    )
}

/**
 * The prompt with the bytes of its files in place of the URLs that the model cannot fetch.
 *
 * @throws what the download throws; `configuration_invalid` it gave too few files
 */
export async function withDownloads(
  prompt: LanguageModelV4Prompt,
  supported: SupportedUrls,
  download: Download,
): Promise<LanguageModelV4Prompt> {
  const places = new Map<string, DownloadRequest>()
  for (const part of filesOf(prompt)) {
    if (part.data.type !== 'url' || !/^https?:$/.test(part.data.url.protocol)) continue
    const { url } = part.data
    const { mediaType } = part
    const supportedUrls = { ...supported }
    const isUrlSupportedByModel = isUrlSupported({ url: url.href, mediaType, supportedUrls })
    places.set(url.href, { url, isUrlSupportedByModel })
  }
  const requests = [...places.values()]
  if (requests.length === 0) return prompt
  const files = await download(requests)
  if (files.length < requests.length) {
    throw new HoldfastError(ErrorCode.configurationInvalid, {
      message: 'The download hook must give a file, or null, for each request.',
    })
  }
  const found = new Map(requests.map(({ url }, index) => [url.href, files[index] ?? null]))
  return prompt.map((message) => withFiles(message, found))
}

function filesOf(prompt: LanguageModelV4Prompt): readonly LanguageModelV4FilePart[] {
  return prompt.flatMap((message) =>
    message.role === 'user' || message.role === 'assistant'
      ? [...message.content].filter((part) => part.type === 'file')
      : [],
  )
}

function withFiles(
  message: LanguageModelV4Message,
  found: ReadonlyMap<string, DownloadedFile>,
): LanguageModelV4Message {
  if (message.role !== 'user' && message.role !== 'assistant') return message
  const content = [...message.content].map((part) =>
    part.type === 'file' ? withFile(part, found) : part,
  )
  // Parts stay of the kinds that the role has.
  return { ...message, content } as LanguageModelV4Message
}

function withFile(
  part: LanguageModelV4FilePart,
  found: ReadonlyMap<string, DownloadedFile>,
): LanguageModelV4FilePart {
  if (part.data.type !== 'url') return part
  const file = found.get(part.data.url.href)
  if (file === undefined || file === null) return part
  const mediaType =
    part.mediaType.includes('/') && !part.mediaType.endsWith('/*')
      ? part.mediaType
      : (file.mediaType ?? part.mediaType)
  return { ...part, mediaType, data: { type: 'data', data: file.data } }
}
