import type { FlexibleSchema, ToolSet } from '@ai-sdk/provider-utils'

type InputOf<TOOL> = TOOL extends { readonly inputSchema: FlexibleSchema<infer INPUT> }
  ? INPUT
  : unknown

/**
 * Changes the inputs of tools, by name: after they were checked, before anybody is asked and before they run. One that
 * throws fails the call.
 */
export type ToolInputRefinement<TOOLS extends ToolSet = ToolSet> = {
  readonly [NAME in keyof TOOLS]?: (
    input: InputOf<TOOLS[NAME]>,
  ) => PromiseLike<InputOf<TOOLS[NAME]>> | InputOf<TOOLS[NAME]>
}
