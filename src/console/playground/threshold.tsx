/**
 * What is done with the probability of a yes: act, ask a person, or refuse.
 *
 * @module
 */

import { useId } from 'preact/hooks'

/** 0 to 1; `refuse` is at most `act`. */
export interface Threshold {
  /** From here on: act. */
  readonly act: number
  /** Below: refuse. Between the two a person is asked. */
  readonly refuse: number
}

/** By the name of a question. */
export type Thresholds = Readonly<Record<string, Threshold>>

const standardThreshold: Threshold = { act: 0.8, refuse: 0.2 }

export function thresholdOf(thresholds: Thresholds, name: string): Threshold {
  return Object.hasOwn(thresholds, name) ? thresholds[name]! : standardThreshold
}

function stepOf(yes: number, { act, refuse }: Threshold): string {
  return yes >= act ? 'Act' : yes < refuse ? 'Refuse' : 'Ask a person'
}

interface ThresholdFieldsProps {
  readonly name: string
  /** The probability of yes. */
  readonly yes: number
  readonly threshold: Threshold
  readonly onThreshold: (threshold: Threshold) => void
}

export function ThresholdFields({ name, yes, threshold, onThreshold }: ThresholdFieldsProps) {
  const { act, refuse } = threshold
  return (
    <fieldset class="threshold">
      <legend class="visually-hidden">Thresholds of {name}</legend>
      <p class="threshold-step" aria-live="polite">
        <span class="faint">With these thresholds: </span>
        <span class="tag">{stepOf(yes, threshold)}</span>
      </p>
      <Slider
        label="Act from"
        value={act}
        onValue={(act) => onThreshold({ act, refuse: Math.min(refuse, act) })}
      />
      <Slider
        label="Refuse below"
        value={refuse}
        onValue={(refuse) => onThreshold({ refuse, act: Math.max(act, refuse) })}
      />
    </fieldset>
  )
}

interface SliderProps {
  readonly label: string
  readonly value: number
  readonly onValue: (value: number) => void
}

function Slider({ label, value, onValue }: SliderProps) {
  const id = useId()
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="range"
        min="0"
        max="1"
        step="0.01"
        value={value}
        onInput={(event) => onValue(Number(event.currentTarget.value))}
      />
      <output for={id}>{value.toFixed(2)}</output>
    </div>
  )
}
