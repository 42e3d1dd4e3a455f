import { type FormEvent, useId, useMemo, useState } from 'react'
import { parsedJson } from '../api/json-reader.ts'
import { readableJson } from '../chat/readable-json.ts'
import {
  answerFrom,
  formModelFrom,
  type FormResult,
  type FormValues,
  initialValues,
} from './form-model.ts'
import { answerRun } from './run-api.ts'
import type { Question } from './run-view.ts'
import { SchemaField } from './schema-field.tsx'

/** What a question needs. */
export interface RunQuestionProps {
  readonly runId: string
  readonly question: Question
  /** The server has taken the answer. */
  readonly onAnswered: () => void
}

const freeField = {
  name: 'answer',
  label: 'Answer as JSON',
  isRequired: true,
  type: { kind: 'json' },
} as const

/** A run's open question, as a form that is made from the schema of its answer. */
export function RunQuestion({ runId, question, onAnswered }: RunQuestionProps) {
  const { id, reason, payload, schema } = question
  const model = useMemo(() => formModelFrom(schema), [schema])
  const [values, setValues] = useState<FormValues>(() => initialValues(schema))
  const [problems, setProblems] = useState<Readonly<Record<string, string>>>({})
  const [refusal, setRefusal] = useState<string>()
  const [isSending, setIsSending] = useState(false)
  const titleId = useId()

  async function send(decided?: boolean): Promise<void> {
    if (isSending) return
    const result =
      model === undefined ? freeAnswer(values[freeField.name]) : answerFrom(model, values, decided)
    if (!result.ok) {
      setProblems(result.problems)
      return
    }
    setProblems({})
    setRefusal(undefined)
    setIsSending(true)
    try {
      await answerRun(runId, id, result.answer)
      onAnswered()
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : 'The answer was not taken.')
      setIsSending(false)
    }
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (model?.decision === undefined) void send()
  }

  const fields = model?.fields ?? [freeField]
  return (
    <form className="question" aria-labelledby={titleId} onSubmit={onSubmit} noValidate>
      <p className="eyebrow" aria-live="polite">
        Asks you
      </p>
      <h4 id={titleId}>{reason ?? 'What should happen next?'}</h4>
      {payload !== undefined && (
        <details className="fold">
          <summary>Details</summary>
          <pre tabIndex={0} aria-label="details">
            <code>{readableJson(payload)}</code>
          </pre>
        </details>
      )}
      {fields.map((field) => (
        <SchemaField
          key={field.name}
          field={field}
          value={values[field.name]}
          problem={problems[field.name]}
          onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
        />
      ))}
      {refusal !== undefined && (
        <p className="field-problem" role="alert">
          {refusal}
        </p>
      )}
      <div className="button-row">
        {model?.decision === undefined ? (
          <button type="submit" className="button button-primary" disabled={isSending}>
            Send answer
          </button>
        ) : (
          <>
            <button
              type="button"
              className="button button-primary"
              disabled={isSending}
              onClick={() => void send(true)}
            >
              Approve
            </button>
            <button
              type="button"
              className="button"
              disabled={isSending}
              onClick={() => void send(false)}
            >
              Decline
            </button>
          </>
        )}
      </div>
    </form>
  )
}

function freeAnswer(typed: string | boolean | undefined): FormResult {
  const answer = typeof typed === 'string' ? parsedJson(typed) : undefined
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) {
    return { ok: true, answer: answer as Readonly<Record<string, unknown>> }
  }
  return { ok: false, problems: { [freeField.name]: 'A JSON object is needed.' } }
}
