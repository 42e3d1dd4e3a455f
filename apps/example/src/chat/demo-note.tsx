import { Icon } from '../shell/icon.tsx'
import { Examples, type ExamplesProps } from './examples.tsx'

/** Says that no language model is behind the desk, so that nobody takes it for one. */
export function DemoNote({ onSend }: ExamplesProps) {
  return (
    <details className="demo-note">
      <summary>
        <span>Offline demo: a few rules, no language model</span>
        <span className="demo-note-more">
          Examples
          <Icon name="chevron" />
        </span>
      </summary>
      <Examples onSend={onSend} />
    </details>
  )
}
