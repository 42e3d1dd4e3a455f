import { useId } from 'react'
import type { FormField } from './form-model.ts'

/** What a field needs. */
export interface SchemaFieldProps {
  readonly field: FormField
  readonly value: string | boolean | undefined
  readonly problem: string | undefined
  readonly onChange: (value: string | boolean) => void
}

/** One field of a form that was made from a schema. */
export function SchemaField({ field, value, problem, onChange }: SchemaFieldProps) {
  const id = useId()
  const noteId = `${id}-note`
  const { label, hint, isRequired, type } = field
  const note = problem ?? hint
  const common = {
    id,
    'aria-invalid': problem !== undefined,
    ...(note === undefined ? {} : { 'aria-describedby': noteId }),
    ...(isRequired ? { 'aria-required': true } : {}),
  }
  if (type.kind === 'boolean') {
    return (
      <div className="field">
        <label className="check-label">
          <input
            {...common}
            type="checkbox"
            checked={value === true}
            onChange={(event) => onChange(event.target.checked)}
          />
          {label}
        </label>
        <Note id={noteId} text={note} isProblem={problem !== undefined} />
      </div>
    )
  }
  const text = typeof value === 'string' ? value : ''
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
        {isRequired ? (
          <span className="required" aria-hidden="true">
            {' '}
            *
          </span>
        ) : (
          <span className="optional"> (optional)</span>
        )}
      </label>
      <Input type={type} text={text} common={common} onChange={onChange} />
      <Note id={noteId} text={note} isProblem={problem !== undefined} />
    </div>
  )
}

interface InputProps {
  readonly type: Exclude<FormField['type'], { kind: 'boolean' }>
  readonly text: string
  readonly common: Readonly<Record<string, unknown>> & { readonly id: string }
  readonly onChange: (value: string) => void
}

function Input({ type, text, common, onChange }: InputProps) {
  switch (type.kind) {
    case 'number':
      return (
        <input
          {...common}
          className="input"
          type="text"
          inputMode={type.isInteger ? 'numeric' : 'decimal'}
          autoComplete="off"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )
    case 'choice':
      return (
        <select
          {...common}
          className="input"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">Choose…</option>
          {type.options.map((option) => (
            <option key={String(option)} value={String(option)}>
              {String(option)}
            </option>
          ))}
        </select>
      )
    case 'json':
      return (
        <textarea
          {...common}
          className="input input-code"
          rows={3}
          spellCheck={false}
          placeholder="JSON"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )
    case 'text':
      return type.isLong ? (
        <textarea
          {...common}
          className="input"
          rows={2}
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      ) : (
        <input
          {...common}
          className="input"
          type="text"
          value={text}
          onChange={(event) => onChange(event.target.value)}
        />
      )
  }
}

interface NoteProps {
  readonly id: string
  readonly text: string | undefined
  readonly isProblem: boolean
}

function Note({ id, text, isProblem }: NoteProps) {
  if (text === undefined) return undefined
  return (
    <p id={id} className={isProblem ? 'field-problem' : 'field-hint'}>
      {text}
    </p>
  )
}
