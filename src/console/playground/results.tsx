/**
 * The results of a request.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { count, counted, milliseconds } from '../format.js'
import { Segments } from '../parts/field.js'
import { CopyButton, Facts } from '../parts/small.js'
import { AnswerCard } from './answer-card.js'
import { prettyJson, readJson } from './json-text.js'
import type { Run } from './run.js'
import { thresholdOf, type Thresholds } from './threshold.js'

interface ResultsProps {
  readonly of: Run
  readonly charged: boolean
  readonly thresholds: Thresholds
  readonly onThresholds: (thresholds: Thresholds) => void
}

export function Results({ of: run, charged, thresholds, onThresholds }: ResultsProps) {
  const [form, setForm] = useState('cards')
  const { reply, timings, roundTripMs } = run
  return (
    <>
      <div class="row">
        <Segments
          label="Form of the answers"
          value={form}
          options={[
            { value: 'cards', text: 'Answers' },
            { value: 'json', text: 'Raw JSON' },
          ]}
          onValue={setForm}
        />
        {form === 'json' && <CopyButton text={reply.text} label="Copy JSON" />}
      </div>
      {form === 'cards' ? (
        reply.answers.map((answer) => (
          <AnswerCard
            key={answer.name}
            of={answer}
            threshold={thresholdOf(thresholds, answer.name)}
            onThreshold={(threshold) => onThresholds({ ...thresholds, [answer.name]: threshold })}
          />
        ))
      ) : (
        <pre class="code" role="region" tabIndex={0} aria-label="The reply as JSON">
          {prettyJson(readJson(reply.text))}
        </pre>
      )}
      <details class="fold">
        <summary>
          {reply.model}, {tokens(reply.inputTokens)}, {milliseconds(reply.latencyMs)}
        </summary>
        <Facts
          of={[
            ['Model', reply.model],
            ['Input', tokens(reply.inputTokens, reply.cachedTokens, 'read before')],
            ...(reply.imageTokens === undefined
              ? []
              : [['Of images', tokens(reply.imageTokens)] as const]),
            ['Output', tokens(reply.outputTokens)],
            ['Model’s time', milliseconds(reply.latencyMs)],
            ['Round trip', milliseconds(roundTripMs)],
            ['Charged', charged ? 'yes' : 'no'],
          ]}
        />
        {timings.length > 0 && (
          <p class="faint timings">
            {timings.map(([name, ms]) => (
              <span key={name}>
                {name} {milliseconds(ms)}
              </span>
            ))}
          </p>
        )}
      </details>
    </>
  )
}

function tokens(value: number, others = 0, what = ''): string {
  const text = counted(value, 'token')
  return others === 0 ? text : `${text}, ${count(others)} ${what}`
}
