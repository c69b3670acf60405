/**
 * Compare: the same questions about many states, asked in several ways, side by side. Cases stay in
 * this tab; saving them makes a file.
 *
 * @module
 */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { counted } from '../format.js'
import { Button } from '../parts/button.js'
import { PageHead } from '../parts/small.js'
import { saveFile } from '../parts/save-file.js'
import { BadNote, Empty } from '../parts/states.js'
import { type DraftQuestions, noQuestions, writtenQuestions } from '../playground/draft.js'
import { draftsOfExample, examples } from '../playground/examples.js'
import { prettyJson, readJson } from '../playground/json-text.js'
import { QuestionsEditor } from '../playground/questions-editor.js'
import { useKept } from '../store.js'
import { useLoad } from '../use-load.js'
import type { Models } from '../wire.js'
import { CaseTable } from './case-table.js'
import { keptCases, keptQuestions } from './add-case.js'
import { type Case, linesOf, newCase, readLines } from './cases.js'
import { ColumnEditor } from './column-editor.js'
import { type CompareColumn, isComplete } from './columns.js'
import { type Ask, askAll, askOf, type Outcome, rowsOf } from './results.js'

const firstColumns: readonly CompareColumn[] = [
  { id: 1, model: '', orders: '1', temperature: '' },
  { id: 2, model: '', orders: '2', temperature: '' },
]

const exampleStates = [
  'I was charged twice this month. Please return one payment.',
  'The app closes by itself whenever I open the camera.',
  'Do you offer a discount for schools?',
  'My invoice has the wrong address, and the download button does nothing.',
]

/** The cases and questions that were replaced. */
interface Replaced {
  readonly cases: readonly Case[]
  readonly questions: DraftQuestions
}

export function ComparePage() {
  const [questions, setQuestions] = useKept(keptQuestions, noQuestions)
  const [columns, setColumns] = useKept('oi-compare-columns', firstColumns)
  const [cases, setCases] = useKept<readonly Case[]>(keptCases, [])
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [running, setRunning] = useState<{ controller: AbortController; of: number } | undefined>()
  const [done, setDone] = useState(0)
  const [reason, setReason] = useState<string | undefined>()
  const [replaced, setReplaced] = useState<Replaced | undefined>()
  const chooser = useRef<HTMLInputElement>(null)
  const models = useLoad<Models>('/models')
  const written = writtenQuestions(questions)
  const rows = useMemo(
    () => rowsOf(cases, columns, written.json, outcomes),
    [cases, columns, written.json, outcomes],
  )
  const stop = useRef(() => {})
  stop.current = () => running?.controller.abort()
  useEffect(() => () => stop.current(), [])

  const asks = missing(cases, columns, written.json, outcomes)
  const ready = asks.length > 0 && columns.every(isComplete)
  const run = async () => {
    const controller = new AbortController()
    setRunning({ controller, of: asks.length })
    setDone(0)
    const next = new Map(outcomes)
    try {
      await askAll(asks, controller.signal, (key, outcome) => {
        next.set(key, outcome)
        setOutcomes(new Map(next))
        setDone((done) => done + 1)
      })
    } finally {
      setRunning(undefined)
    }
  }
  const takeFile = async (file: File) => {
    const read = readLines(await file.text())
    setReason(read.reason === undefined ? undefined : `${file.name}: ${read.reason}`)
    if (read.cases === undefined) return
    replace({
      cases: read.cases,
      questions:
        read.questions === undefined
          ? questions
          : { form: 'json', fields: [], json: prettyJson(readJson(read.questions)) },
    })
  }
  /** Keeps the replaced cases, so that the user can switch back and forth. */
  const replace = (next: Replaced) => {
    if (cases.length > 0) setReplaced({ cases, questions })
    setCases(next.cases)
    setQuestions(next.questions)
  }
  // An example has its own questions, and must not replace others.
  const isUnasked = questions.fields.length === 0 && questions.json.trim() === ''
  const takeExample = () => {
    setQuestions(draftsOfExample(examples.find(({ title }) => title === 'Choice')!).questions)
    const right = ['billing', 'technical', 'sales', '']
    setCases(exampleStates.map((state, i) => newCase({ state, expected: { team: right[i]! } })))
  }
  return (
    <>
      <PageHead
        title="Compare"
        about="Models, orders and temperatures side by side. Cases stay in this tab until you save them to a file; nothing is charged."
      >
        <Button onClick={() => chooser.current?.click()}>Open file…</Button>
        <input
          ref={chooser}
          type="file"
          class="visually-hidden"
          tabIndex={-1}
          aria-label="File of cases"
          accept=".jsonl,.ndjson,.json"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0]
            if (file) void takeFile(file)
            event.currentTarget.value = ''
          }}
        />
        <Button
          disabled={
            cases.length === 0 ||
            (written.json === undefined && cases.some((one) => one.questions === undefined))
          }
          onClick={() =>
            saveFile('cases.jsonl', 'application/x-ndjson', linesOf(cases, written.json))
          }
        >
          Save file
        </Button>
      </PageHead>
      {reason !== undefined && <BadNote>{reason}</BadNote>}
      <div class="two two-even">
        <QuestionsEditor questions={questions} onQuestions={setQuestions} error={undefined} />
        <ColumnEditor columns={columns} models={models.data?.models} onColumns={setColumns} />
      </div>
      <div class="row run-bar">
        {running ? (
          <>
            <Button icon="stop" onClick={() => running.controller.abort()}>
              Stop
            </Button>
            <span class="hint" role="status">
              {done} of {counted(running.of, 'request')}
            </span>
          </>
        ) : (
          <Button kind="main" icon="play" disabled={!ready} onClick={() => void run()}>
            {asks.length > 0 ? `Run ${counted(asks.length, 'request')}` : 'Run'}
          </Button>
        )}
        <Button icon="plus" onClick={() => setCases([...cases, newCase()])}>
          Add case
        </Button>
        {cases.length > 0 && (
          <Button disabled={!!running} onClick={() => replace({ cases: [], questions })}>
            Remove all cases
          </Button>
        )}
        {replaced !== undefined && (
          <Button
            disabled={!!running}
            onClick={() => {
              setReplaced(cases.length > 0 ? { cases, questions } : undefined)
              setCases(replaced.cases)
              setQuestions(replaced.questions)
            }}
          >
            Undo
          </Button>
        )}
        {written.reason !== undefined && cases.some((one) => one.questions === undefined) && (
          <span class="hint">{written.reason}</span>
        )}
      </div>
      {cases.length === 0 ? (
        <Empty icon="compare" title="No cases yet">
          <p>
            A case is a state to ask the questions about. Add one, open a file of JSON lines as{' '}
            <code>oi eval</code> takes them{isUnasked && ', or begin with an example'}.
          </p>
          {isUnasked && <Button onClick={takeExample}>Insert an example</Button>}
        </Empty>
      ) : (
        <CaseTable
          rows={rows}
          columns={columns}
          questions={written.json}
          onCase={(changed) =>
            setCases(cases.map((one) => (one.id === changed.id ? changed : one)))
          }
          onRemove={(id) => setCases(cases.filter((one) => one.id !== id))}
        />
      )}
    </>
  )
}

function missing(
  cases: readonly Case[],
  columns: readonly CompareColumn[],
  questions: string | undefined,
  outcomes: ReadonlyMap<string, Outcome>,
): Ask[] {
  const asks = new Map<string, Ask>()
  for (const one of cases) {
    for (const column of columns) {
      const ask = askOf(one, column, questions)
      const known = ask && outcomes.get(ask.key)
      // Failed requests are retried.
      if (ask !== undefined && (known === undefined || 'error' in known)) asks.set(ask.key, ask)
    }
  }
  return [...asks.values()]
}
