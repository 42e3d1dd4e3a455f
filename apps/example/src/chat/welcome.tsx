import { Examples, type ExamplesProps } from './examples.tsx'

/** What a chat shows before anything was said. */
export interface WelcomeProps extends ExamplesProps {
  readonly isDemo: boolean
}

/** Says what can be asked here. */
export function Welcome({ isDemo, onSend }: WelcomeProps) {
  return (
    <section className="welcome" aria-label="welcome">
      <h2>What can the order desk do for you?</h2>
      <p>
        It looks up, cancels and refunds orders and writes reports. Work that takes a while runs
        beside the chat, and goes on when you close the page or the server restarts.
      </p>
      {isDemo && (
        <p className="welcome-demo">
          Offline demo: a few rules, no language model. Try one of these:
        </p>
      )}
      <Examples onSend={onSend} />
    </section>
  )
}
