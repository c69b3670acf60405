/**
 * The table of cases with their answers in each column.
 *
 * @module
 */

import { useMemo, useState } from 'preact/hooks'
import { isJsonObject, keysOf } from '../../api/json-value.js'
import { percent } from '../format.js'
import { RemoveButton } from '../parts/button.js'
import { CheckField } from '../parts/field.js'
import { Icon } from '../parts/icons.js'
import { usePages } from '../parts/pager.js'
import { checkJson } from '../playground/json-text.js'
import { type Case, expectedOf } from './cases.js'
import { type CompareColumn, nameOf } from './columns.js'
import { type Row, summariesOf, type Summary } from './results.js'

interface CaseTableProps {
  readonly rows: readonly Row[]
  readonly columns: readonly CompareColumn[]
  /** JSON of the questions of all cases that have none of their own. */
  readonly questions: string | undefined
  readonly onCase: (changed: Case) => void
  readonly onRemove: (id: number) => void
}

const pageSize = 25

export function CaseTable({ rows, columns, questions, onCase, onRemove }: CaseTableProps) {
  const [onlyFlips, setOnlyFlips] = useState(false)
  const names = useMemo(() => namesIn(questions), [questions])
  const fitting = onlyFlips ? rows.filter(({ flipped }) => flipped) : rows
  const { visible, pager } = usePages(fitting, pageSize, 'cases')
  const summaries = summariesOf(rows, columns.length)
  return (
    <>
      <CheckField
        label={`Only cases with a flip (${rows.filter(({ flipped }) => flipped).length} of ${rows.length})`}
        checked={onlyFlips}
        onChecked={setOnlyFlips}
      />
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Comparison">
        <table class="compare">
          <thead>
            <tr>
              <th scope="col">Case</th>
              {columns.map((column, i) => (
                <th key={column.id} scope="col">
                  {i + 1}. {nameOf(column)}
                  <SummaryLine of={summaries[i]!} first={i === 0} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.map((row) => {
              const asked = row.of.questions === undefined ? names : namesIn(row.of.questions)
              return (
                <tr key={row.of.id}>
                  <th scope="row">
                    <CaseFields
                      of={row.of}
                      number={rows.indexOf(row) + 1}
                      questions={asked}
                      onCase={onCase}
                      onRemove={onRemove}
                    />
                  </th>
                  {row.cells.map((cell, i) => (
                    <td key={columns[i]!.id}>
                      <Answers of={cell} alone={asked.length === 1} />
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {pager}
    </>
  )
}

function namesIn(questions: string | undefined): readonly string[] {
  if (questions === undefined) return []
  const { value } = checkJson(questions)
  return isJsonObject(value) ? keysOf(value) : []
}

function SummaryLine({ of, first }: { readonly of: Summary; readonly first: boolean }) {
  if (of.answers + of.failed === 0) return null
  return (
    <span class="sub faint">
      {!first && <span>{counts(of.flips, of.answers)} flipped</span>}
      {of.known > 0 && <span>{counts(of.right, of.known)} right</span>}
      {of.failed > 0 && <span class="bad">{of.failed} failed</span>}
    </span>
  )
}

const counts = (part: number, all: number): string =>
  `${part} of ${all}${all === 0 ? '' : ` (${percent(part / all)})`}`

interface CaseFieldsProps {
  readonly of: Case
  readonly number: number
  readonly questions: readonly string[]
  readonly onCase: (changed: Case) => void
  readonly onRemove: (id: number) => void
}

function CaseFields({ of: one, number, questions, onCase, onRemove }: CaseFieldsProps) {
  return (
    <div class="case">
      <div class="case-head">
        <span class="faint">
          {number}
          {one.questions !== undefined && ', with its own questions'}
        </span>
        <CheckField
          label="JSON"
          checked={one.form === 'json'}
          onChecked={(json) => onCase({ ...one, form: json ? 'json' : 'text' })}
        />
        <RemoveButton label={`Remove case ${number}`} onClick={() => onRemove(one.id)} />
      </div>
      <textarea
        class={one.form === 'json' ? 'mono' : undefined}
        rows={3}
        aria-label={`State of case ${number}`}
        placeholder="The state"
        value={one.state}
        onInput={(event) => onCase({ ...one, state: event.currentTarget.value })}
      />
      {questions.map((name) => (
        <label key={name} class="expected">
          <span class="faint">right{questions.length > 1 ? `, ${name}` : ''}</span>
          <input
            type="text"
            autocomplete="off"
            aria-label={`Right answer of case ${number} to ${name}`}
            placeholder="not known"
            value={expectedOf(one, name)}
            onInput={(event) =>
              onCase({ ...one, expected: { ...one.expected, [name]: event.currentTarget.value } })
            }
          />
        </label>
      ))}
    </div>
  )
}

interface AnswersProps {
  readonly of: Row['cells'][number]
  readonly alone: boolean
}

function Answers({ of: cell, alone }: AnswersProps) {
  if (cell === undefined) return <span class="faint">–</span>
  if ('error' in cell) return <p class="field-error">{cell.error.message}</p>
  return (
    <ul class="cell-answers">
      {cell.answers.map((answer, i) => (
        <li key={answer.name}>
          {!alone && <span class="sub faint">{answer.name}</span>}
          <span class={cell.flips[i] ? 'cell-verdict flip' : 'cell-verdict'}>
            {cell.flips[i] && (
              <span class="flip-mark" title="Differs from column 1">
                <Icon name="flip" />
                <span class="visually-hidden">Flip:</span>
              </span>
            )}
            {answer.verdict} <span class="faint">{percent(answer.confidence)}</span>
          </span>
          {cell.right[i] !== undefined && (
            <span class={cell.right[i] ? 'good sub' : 'bad sub'}>
              {cell.right[i] ? 'right' : 'wrong'}
            </span>
          )}
        </li>
      ))}
    </ul>
  )
}
