/**
 * The fields of one question.
 *
 * @module
 */

import { Button, RemoveButton } from '../parts/button.js'
import { SelectField, TextField } from '../parts/field.js'
import type { ApiError } from '../server.js'
import { type DraftOption, type DraftQuestion, noOption, type QuestionType } from './drafts.js'

interface QuestionFieldsProps {
  readonly of: DraftQuestion
  readonly error: ApiError | undefined
  readonly onChange: (question: DraftQuestion) => void
  readonly onRemove: () => void
}

export const typeNames: Readonly<Record<QuestionType, string>> = {
  noul: 'Yes or no',
  choice: 'Choice',
  score: 'Score',
}

export function QuestionFields({ of: question, error, onChange, onRemove }: QuestionFieldsProps) {
  const { type, name } = question
  const set = (change: Partial<DraftQuestion>) => onChange({ ...question, ...change })
  return (
    <fieldset class={error ? 'question question-bad' : 'question'}>
      <legend class="visually-hidden">Question {name}</legend>
      <div class="question-head">
        <TextField
          label="Name"
          value={name}
          onValue={(name) => set({ name })}
          input={{ class: 'mono' }}
        />
        <SelectField
          label="Type"
          value={type}
          options={(Object.keys(typeNames) as QuestionType[]).map((value) => ({
            value,
            text: typeNames[value],
          }))}
          onValue={(type) => set(changedType(question, type as QuestionType))}
        />
        <RemoveButton label={`Remove question ${name}`} onClick={onRemove} />
      </div>
      <TextField
        label="Question"
        value={question.instructions}
        onValue={(instructions) => set({ instructions })}
        input={{ placeholder: placeholders[type] }}
      />
      {type === 'noul' ? (
        <div class="pair">
          <TextField
            label="What counts as yes"
            value={question.yes}
            onValue={(yes) => set({ yes })}
          />
          <TextField label="What counts as no" value={question.no} onValue={(no) => set({ no })} />
        </div>
      ) : (
        <Options of={question} onOptions={(options) => set({ options })} />
      )}
      {error && (
        <p class="field-error" role="alert">
          {error.message}
        </p>
      )}
    </fieldset>
  )
}

const placeholders: Readonly<Record<QuestionType, string>> = {
  noul: 'Does the customer want money back?',
  choice: 'Which team should answer?',
  score: 'How urgent is it?',
}

/** Texts of options become meanings of levels, and the other way round. */
function changedType(question: DraftQuestion, type: QuestionType): Partial<DraftQuestion> {
  if (type === question.type) return {}
  const { options } = question
  if (type === 'score') {
    return {
      type,
      options: options.map(({ name, meaning }) => ({ name: '', meaning: meaning || name })),
    }
  }
  if (type === 'choice') {
    return { type, options: options.length > 0 ? options.map(named) : [noOption, noOption] }
  }
  return { type }
}

function named({ name, meaning }: DraftOption): DraftOption {
  return name === '' ? { name: meaning, meaning: '' } : { name, meaning }
}

interface OptionsProps {
  readonly of: DraftQuestion
  readonly onOptions: (options: readonly DraftOption[]) => void
}

function Options({ of: { type, options }, onOptions }: OptionsProps) {
  const isChoice = type === 'choice'
  const what = isChoice ? 'option' : 'level'
  const set = (i: number, change: Partial<DraftOption>) =>
    onOptions(options.map((option, j) => (j === i ? { ...option, ...change } : option)))
  return (
    <div class="options">
      <p class="options-title">
        {isChoice ? 'Options and what they mean' : 'Levels, the lowest first'}
      </p>
      <ol start={0} class={isChoice ? 'options-list' : 'options-list levels'}>
        {options.map((option, i) => (
          <li key={i}>
            {isChoice ? (
              <input
                type="text"
                class="mono"
                aria-label={`Name of option ${i + 1}`}
                placeholder="name"
                autocomplete="off"
                value={option.name}
                onInput={(event) => set(i, { name: event.currentTarget.value })}
              />
            ) : (
              <span class="level mono">{i}</span>
            )}
            <input
              type="text"
              aria-label={isChoice ? `Meaning of option ${i + 1}` : `Meaning of level ${i}`}
              placeholder={isChoice ? 'what it means (optional)' : 'what it means'}
              autocomplete="off"
              value={option.meaning}
              onInput={(event) => set(i, { meaning: event.currentTarget.value })}
            />
            <RemoveButton
              label={`Remove ${what} ${isChoice ? i + 1 : i}`}
              onClick={() => onOptions(options.filter((_, j) => j !== i))}
            />
          </li>
        ))}
      </ol>
      <Button small icon="plus" onClick={() => onOptions([...options, noOption])}>
        Add {what}
      </Button>
    </div>
  )
}
