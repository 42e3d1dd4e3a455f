/** What step results keep beside what they need. Each default false: such things can be large. */
export interface IncludeOptions {
  /** The body of the request that the provider was sent: `request.body`. */
  readonly requestBody?: boolean | undefined
  /** The messages of the model call: `request.messages`. */
  readonly requestMessages?: boolean | undefined
  /** The body of the provider's answer, of calls that are not streamed: `response.body`. */
  readonly responseBody?: boolean | undefined
  /** The provider's own chunks, as `raw` parts of the stream. */
  readonly rawChunks?: boolean | undefined
}
