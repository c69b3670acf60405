/**
 * The results of a request, or what stands in their place: why there are none, or that they are
 * waited for.
 *
 * @module
 */

import { useEffect, useState } from 'preact/hooks'
import { count, counted, milliseconds } from '../format.js'
import { Segments } from '../parts/field.js'
import { CopyButton, Facts } from '../parts/small.js'
import { ErrorNote } from '../parts/states.js'
import type { ApiError } from '../server.js'
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

export function Refused({ error }: { readonly error: ApiError }) {
  return (
    <div class="refused">
      <ErrorNote error={error} />
      <p class="faint">
        {error.status > 0 && `Status ${error.status}, `}
        <span class="mono">{error.code}</span>
        {error.param !== undefined && (
          <>
            {' at '}
            <span class="mono">{error.param}</span>
          </>
        )}
      </p>
    </div>
  )
}

/** The waiting time, once it is worth showing. */
export function Waiting() {
  const [ms, setMs] = useState(0)
  useEffect(() => {
    const startMs = performance.now()
    const timer = setInterval(() => setMs(performance.now() - startMs), 100)
    return () => clearInterval(timer)
  }, [])
  return (
    <div class="empty" role="status">
      <span class="spinner" aria-hidden="true" />
      <p class="empty-title">Waiting for the model</p>
      <p aria-hidden="true">{ms >= 300 ? milliseconds(ms) : '\u00a0'}</p>
    </div>
  )
}
