/** Values that an application hands through to its hooks and tools. */
export type Context = Readonly<Record<string, unknown>>
