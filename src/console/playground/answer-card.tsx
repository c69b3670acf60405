/**
 * One answer: its verdict, its confidence, and a bar for each possible answer.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { percent } from '../format.js'
import { Button } from '../parts/button.js'
import { Meter } from '../parts/small.js'
import type { Answer, Bar } from './answer.js'
import { typeNames } from './question-fields.js'
import { type Threshold, ThresholdFields } from './threshold.js'

/** The most bars that are shown at first. */
const mostBars = 12

interface AnswerCardProps {
  readonly of: Answer
  /** Of a noul. */
  readonly threshold: Threshold
  readonly onThreshold: (threshold: Threshold) => void
}

export function AnswerCard({ of: answer, threshold, onThreshold }: AnswerCardProps) {
  const { name, type, verdict, beside, confidence, bars, evidence } = answer
  const [all, setAll] = useState(false)
  // A scale keeps its order; of many options the likeliest come first.
  const sorted = type === 'choice' && bars.length > mostBars
  const ordered = sorted ? [...bars].sort((a, b) => b.p - a.p) : bars
  const shown = all ? ordered : ordered.slice(0, mostBars)
  const most = Math.max(...bars.map(({ p }) => p))
  return (
    <article class="card answer" aria-label={`Answer to ${name}`}>
      <header class="answer-head">
        <h3 class="mono">{name}</h3>
        <span class="faint">{typeNames[type]}</span>
      </header>
      <p class="verdict">
        {verdict} {beside && <span class="faint">{beside}</span>}
      </p>
      <p class="hint">
        {type === 'noul'
          ? `Probability of yes ${percent(bars[0]!.p)}`
          : `Confidence ${percent(confidence)}`}
      </p>
      <ul class="bars" aria-label={`Probabilities of ${name}`}>
        {shown.map((bar, i) => (
          <BarRow key={i} of={bar} most={bar.p === most} />
        ))}
      </ul>
      {bars.length > mostBars && (
        <Button small onClick={() => setAll(!all)}>
          {all ? 'Show fewer' : `Show all ${bars.length}`}
        </Button>
      )}
      {type === 'noul' && (
        <ThresholdFields
          name={name}
          yes={bars[0]!.p}
          threshold={threshold}
          onThreshold={onThreshold}
        />
      )}
      {evidence && (
        <p class="faint evidence">
          {evidence.labelMass !== undefined && (
            <span title="Probability that the model gave to all allowed answers together">
              Label mass {percent(evidence.labelMass)}
            </span>
          )}
          <span>Temperature {evidence.temperature.toFixed(2)}</span>
          {evidence.orderSpread !== undefined && (
            <span title="The largest difference that the order of options made to a probability">
              Order spread {percent(evidence.orderSpread)}
            </span>
          )}
        </p>
      )}
    </article>
  )
}

function BarRow({ of: { name, meaning, p }, most }: { readonly of: Bar; readonly most: boolean }) {
  return (
    <li class={most ? 'bar-most' : undefined}>
      <span class="bar-head">
        <span>
          {name}
          {meaning !== undefined && <span class="faint"> {meaning}</span>}
        </span>
        <span>{percent(p)}</span>
      </span>
      <Meter share={p} label={name} />
    </li>
  )
}
