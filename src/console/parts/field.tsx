/**
 * Fields of forms: a label, an input, and a hint or an error.
 *
 * @module
 */

import { useId, useState } from 'preact/hooks'
import type { ComponentChildren } from 'preact'
import { setQuery, usePlace } from '../navigation.js'

interface Common {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
  /** Behind the input, as `per minute`. */
  readonly unit?: string
}

interface Wired {
  readonly id: string
  readonly 'aria-describedby': string | undefined
  readonly 'aria-invalid': boolean | undefined
}

interface FieldProps extends Common {
  readonly children: (wired: Wired) => ComponentChildren
}

export function Field({ label, hint, error, unit, children }: FieldProps) {
  const id = useId()
  const note = error ?? hint
  const noteId = note === undefined ? undefined : `${id}-note`
  const wired = { id, 'aria-describedby': noteId, 'aria-invalid': error ? true : undefined }
  return (
    <div class={error ? 'field field-bad' : 'field'}>
      <label for={id}>{label}</label>
      {unit === undefined ? (
        children(wired)
      ) : (
        <span class="with-unit">
          {children(wired)}
          <span class="unit">{unit}</span>
        </span>
      )}
      {note !== undefined && (
        <p id={noteId} class={error ? 'field-error' : 'hint'}>
          {note}
        </p>
      )}
    </div>
  )
}

/** Further properties of an input. */
interface InputProps {
  readonly type?: 'text' | 'search' | 'password' | 'date'
  readonly class?: string
  readonly name?: string
  readonly placeholder?: string
  readonly autocomplete?: 'off' | 'current-password' | 'new-password'
  readonly inputMode?: 'text' | 'numeric' | 'decimal'
  readonly maxLength?: number
  readonly min?: string
  readonly autofocus?: boolean
}

interface TextFieldProps extends Common {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly input?: InputProps
}

export function TextField({ value, onValue, input = {}, ...common }: TextFieldProps) {
  // Preact's types are for an input of one fixed type; here it is one of several.
  const { type = 'text', ...others } = input
  return (
    <Field {...common}>
      {(wired) => (
        <input
          {...({ type } as { type: 'text' })}
          autocomplete="off"
          spellcheck={false}
          {...others}
          {...wired}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** Keeps what is searched for in the address, as `search`. */
export function SearchField({ placeholder }: { readonly placeholder: string }) {
  return (
    <TextField
      label="Search"
      value={usePlace().query.get('search') ?? ''}
      onValue={(search) => setQuery({ search })}
      input={{ type: 'search', placeholder }}
    />
  )
}

/** @returns Whether a text has what is searched for, in any case. */
export function useSearch(): (text: string) => boolean {
  const wanted = (usePlace().query.get('search') ?? '').trim().toLowerCase()
  return (text) => text.toLowerCase().includes(wanted)
}

export interface Option {
  readonly value: string
  readonly text: string
}

/** The items by their names, and first an option for none of them. */
export function optionsOf(
  none: string,
  items: readonly { readonly name: string; readonly id?: number }[] = [],
): Option[] {
  const named = items.map(({ name, id = name }) => ({ value: String(id), text: name }))
  return [{ value: '', text: none }, ...named]
}

interface SelectFieldProps extends Common {
  readonly value: string
  readonly options: readonly Option[]
  readonly onValue: (value: string) => void
}

export function SelectField({ value, options, onValue, ...common }: SelectFieldProps) {
  return (
    <Field {...common}>
      {(wired) => (
        <select {...wired} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** A text or a choice, and what is spread over its field. */
export function useText(first = '') {
  const [value, onValue] = useState(first)
  return [value, { value, onValue }, onValue] as const
}

interface CheckFieldProps {
  readonly label: ComponentChildren
  readonly checked: boolean
  readonly onChecked: (checked: boolean) => void
}

export function CheckField({ label, checked, onChecked }: CheckFieldProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChecked(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}

/** Whether it is checked, and what is spread over its field. */
export function useCheck() {
  const [checked, onChecked] = useState(false)
  return [checked, { checked, onChecked }] as const
}

type ChoiceProps = Omit<SelectFieldProps, 'hint' | 'error' | 'unit'>

/** A few options side by side, of which one is chosen. */
export function Segments({ label, value, options, onValue }: ChoiceProps) {
  const name = useId()
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value}>
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onValue(option.value)}
          />
          <span>{option.text}</span>
        </label>
      ))}
    </fieldset>
  )
}
