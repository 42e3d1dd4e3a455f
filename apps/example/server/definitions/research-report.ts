import Type from 'typebox'
import { defineWorkflow } from '@holdfast/workflow'

/** How long the pretended work takes, in milliseconds a piece. */
export interface ReportPace {
  readonly pauseMs: number
}

/** Reads a text and says how long it is: the report's child. */
export const proofreadText = defineWorkflow({
  name: 'proofread_text',
  version: 'v1',
  description: 'Checks a text and counts its words.',
  input: Type.Object({ text: Type.String({ maxLength: 20_000 }) }, { additionalProperties: false }),
  output: Type.Object(
    { text: Type.String(), words: Type.Integer() },
    { additionalProperties: false },
  ),
  async run(context, input) {
    const text = await context.step('tidy', () => input.text.replaceAll(/\s+/g, ' ').trim())
    const words = await context.step('count words', () => text.split(' ').length)
    return { text, words }
  },
})

/** Eight steps with durable pauses between them and a child run that proofreads. */
export function researchReport({ pauseMs }: ReportPace) {
  const labels = [
    'plan',
    'gather sources',
    'read source 1',
    'read source 2',
    'read source 3',
    'draft',
    'edit',
    'publish',
  ] as const
  return defineWorkflow({
    name: 'research_report',
    version: 'v1',
    description: 'Writes a short report on a topic, slowly, with progress.',
    steps: [...labels],
    outputForModels: true,
    input: Type.Object(
      { topic: Type.String({ minLength: 1, maxLength: 200 }) },
      { additionalProperties: false },
    ),
    output: Type.Object(
      { topic: Type.String(), report: Type.String(), words: Type.Integer() },
      { additionalProperties: false },
    ),
    summarize: ({ status }) => `report ${status}`,
    async run(context, { topic }) {
      let completed = 0
      const advance = async (message: string): Promise<void> => {
        completed += 1
        context.progress({ completed, total: labels.length, message })
        await context.sleep(`pause ${completed}`, pauseMs)
      }
      const plan = await context.step('plan', () => [`What ${topic} is`, 'Why it matters'])
      await advance('planned')
      const sources = await context.step('gather sources', () => ['atlas', 'almanac', 'logbook'])
      await advance('sources gathered')
      const notes: string[] = []
      for (const [index, source] of sources.entries()) {
        notes.push(
          await context.step(`read source ${index + 1}`, () => `The ${source} speaks of ${topic}.`),
        )
        await advance(`read the ${source}`)
      }
      const draft = await context.step('draft', () => [...plan, ...notes].join('\n'))
      await advance('drafted')
      const proof = await context.child('proofread', proofreadText, { text: draft })
      const report = await context.step('edit', () => `${topic}: ${proof.text}`)
      await advance('edited')
      await context.step('publish', () => ({ published: true }))
      context.progress({ completed: labels.length, total: labels.length, message: 'published' })
      return { topic, report, words: proof.words }
    },
  })
}
