/**
 * The editor of questions: fields, or JSON.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.js'
import { Segments } from '../parts/field.js'
import type { ApiError } from '../server.js'
import { CodeEditor } from './code-editor.js'
import { type DraftQuestions, mistakeAt, placeIn } from './draft.js'
import { draftsOf, newQuestion, questionsOf, type QuestionType } from './drafts.js'
import { checkJson, prettyJson } from './json-text.js'
import { QuestionFields, typeNames } from './question-fields.js'

interface QuestionsEditorProps {
  readonly questions: DraftQuestions
  readonly onQuestions: (questions: DraftQuestions) => void
  readonly error: ApiError | undefined
}

const types: readonly QuestionType[] = ['noul', 'choice', 'score']

export function QuestionsEditor({ questions, onQuestions, error }: QuestionsEditorProps) {
  const [reason, setReason] = useState<string | undefined>()
  const { form, fields, json } = questions
  const change = (to: string) => {
    if (to === form) return
    if (to === 'json') {
      setReason(undefined)
      onQuestions({ ...questions, form: 'json', json: prettyJson(questionsOf(fields)) })
      return
    }
    const { value } = checkJson(json === '' ? '{}' : json)
    const drafts = value === undefined ? { reason: 'It is no valid JSON yet.' } : draftsOf(value)
    setReason(drafts.reason)
    if (drafts.drafts) onQuestions({ ...questions, form: 'fields', fields: drafts.drafts })
  }
  const steps = placeIn('questions', error)
  return (
    <section class="part" aria-labelledby="questions-title">
      <header class="part-head">
        <h2 id="questions-title">Questions</h2>
        <Segments
          label="Form of the questions"
          value={form}
          options={[
            { value: 'fields', text: 'Form' },
            { value: 'json', text: 'JSON' },
          ]}
          onValue={change}
        />
      </header>
      {reason !== undefined && form === 'json' && (
        <p class="field-error" role="status">
          The form cannot show this: {reason}
        </p>
      )}
      {form === 'json' ? (
        <CodeEditor
          label="Questions, JSON"
          value={json}
          rows={14}
          mistake={mistakeAt(json, 'questions', error)}
          onValue={(json) => onQuestions({ ...questions, json })}
        />
      ) : (
        <>
          {fields.map((field) => (
            <QuestionFields
              key={field.id}
              of={field}
              // An error about all questions is shown at the first.
              error={
                steps !== undefined && (steps[0] ?? fields[0]?.name) === field.name
                  ? error
                  : undefined
              }
              onChange={(next) =>
                onQuestions({
                  ...questions,
                  fields: fields.map((other) => (other.id === field.id ? next : other)),
                })
              }
              onRemove={() =>
                onQuestions({
                  ...questions,
                  fields: fields.filter(({ id }) => id !== field.id),
                })
              }
            />
          ))}
          <div class="row">
            {types.map((type) => (
              <Button
                small
                icon="plus"
                key={type}
                onClick={() =>
                  onQuestions({ ...questions, fields: [...fields, newQuestion(type, fields)] })
                }
              >
                {typeNames[type]}
              </Button>
            ))}
          </div>
        </>
      )}
    </section>
  )
}
