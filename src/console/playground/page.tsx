/**
 * The playground: one request, edited by hand, and its answers.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { milliseconds } from '../format.js'
import { SelectField } from '../parts/field.js'
import { Icon } from '../parts/icons.js'
import { PageHead } from '../parts/small.js'
import { Empty, ErrorNote } from '../parts/states.js'
import type { ApiError } from '../server.js'
import { useKept } from '../store.js'
import { asApiError, useLoad } from '../use-load.js'
import type { Models, Workspaces } from '../wire.js'
import { CodeDialog } from './code-dialog.js'
import {
  bodyOf,
  type DraftQuestions,
  type DraftState,
  emptyState,
  noQuestions,
  writtenQuestions,
  writtenState,
} from './draft.js'
import { newQuestion } from './drafts.js'
import { ExampleRow } from './example-row.js'
import { type Example, examples } from './examples.js'
import { QuestionsEditor } from './questions-editor.js'
import { Results } from './results.js'
import { decide, ordersOptions, type Run } from './run.js'
import { StateEditor } from './state-editor.js'

/** Images are kept separately: they are long, and typing does not change them. */
function useKeptState(): [DraftState, (state: DraftState) => void] {
  const [text, setText] = useKept('oi-state', { form: emptyState.form, text: emptyState.text })
  const [images, setImages] = useKept('oi-images', emptyState.images)
  const set = (next: DraftState) => {
    if (next.images !== images) setImages(next.images)
    setText({ form: next.form, text: next.text })
  }
  return [{ ...text, images }, set]
}

/** The state and questions that an example has replaced. */
interface Replaced {
  readonly state: DraftState
  readonly questions: DraftQuestions
}

type Outcome =
  | { readonly run: Run; readonly booked: boolean; readonly error?: undefined }
  | { readonly error: ApiError; readonly run?: undefined }

export function PlaygroundPage() {
  const [state, setState] = useKeptState()
  const [questions, setQuestions] = useKept('oi-questions', noQuestions)
  const [model, setModel] = useKept('oi-model', '')
  const [workspace, setWorkspace] = useKept('oi-workspace', '')
  const [orders, setOrders] = useKept('oi-orders', '')
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const [running, setRunning] = useState<AbortController | undefined>()
  const [stopped, setStopped] = useState(false)
  const [code, setCode] = useState<string | undefined>()
  const [replaced, setReplaced] = useState<Replaced | undefined>()
  const models = useLoad<Models>('/models')
  const workspaces = useLoad<Workspaces>('/workspaces')

  const written = { state: writtenState(state), questions: writtenQuestions(questions) }
  const reason = written.state.reason ?? written.questions.reason
  const isEmpty = state.text === '' && state.images.length === 0 && questions.fields.length === 0
  const bodyFor = (workspaceId?: number) =>
    bodyOf(written.state.json!, written.questions.json!, {
      images: state.images,
      model,
      workspaceId,
    })

  const run = async () => {
    if (running || reason !== undefined) return
    const controller = new AbortController()
    setRunning(controller)
    setStopped(false)
    try {
      const workspaceId = workspace === '' ? undefined : Number(workspace)
      const run = await decide(bodyFor(workspaceId), orders, controller.signal)
      setOutcome({ run, booked: workspaceId !== undefined })
    } catch (error) {
      if (controller.signal.aborted) setStopped(true)
      else setOutcome({ error: asApiError(error) })
    } finally {
      setRunning(undefined)
    }
  }
  const stop = () => running?.abort()
  const results = useRef<HTMLElement>(null)
  // On a narrow screen the answers are below the form.
  useEffect(() => {
    if (outcome !== undefined) results.current?.scrollIntoView({ block: 'nearest' })
  }, [outcome])
  const leaving = useRef(stop)
  leaving.current = stop
  // Leaving the page cancels its request.
  useEffect(() => () => leaving.current(), [])

  const keys = useRef<(event: KeyboardEvent) => void>(() => {})
  keys.current = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void run()
    } else if (event.key === 'Escape' && running) {
      event.preventDefault()
      stop()
    }
  }
  useEffect(() => {
    const listener = (event: KeyboardEvent) => keys.current(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])

  const insert = ({ type, state: text, question }: Example) => {
    const isExample = examples.some(({ state: own }) => own === state.text)
    if (!isEmpty && !isExample) setReplaced({ state, questions })
    setState({ form: 'text', text, images: [] })
    setQuestions({ ...questions, form: 'fields', fields: [newQuestion(type, [], question)] })
    setOutcome(undefined)
  }
  /** Swaps the two, so that this loses nothing either. */
  const bringBack = ({ state: text, questions: asked }: Replaced) => {
    setReplaced({ state, questions })
    setState(text)
    setQuestions(asked)
    setOutcome(undefined)
  }
  const card = models.data?.models.find(({ name, default: isDefault }) =>
    model === '' ? isDefault : name === model,
  )?.card
  const error = outcome?.error
  return (
    <>
      <PageHead
        title="Playground"
        about="Ask questions about a state. Nothing is kept on the server; without a workspace nothing is charged."
      />
      <div class="two">
        <div class="left">
          <ExampleRow
            onExample={insert}
            onUndo={replaced === undefined ? undefined : () => bringBack(replaced)}
          />
          <StateEditor
            state={state}
            onState={setState}
            error={error}
            sees={card?.modalities.includes('image')}
          />
          <QuestionsEditor questions={questions} onQuestions={setQuestions} error={error} />
          <section class="part" aria-label="Settings of the request">
            <div class="trio">
              <SelectField
                label="Model"
                value={model}
                options={[
                  { value: '', text: 'Default' },
                  ...(models.data?.models ?? []).map(({ name }) => ({ value: name, text: name })),
                ]}
                onValue={setModel}
              />
              <SelectField
                label="Orders of the options"
                value={orders}
                options={ordersOptions}
                onValue={setOrders}
              />
              <SelectField
                label="Counts to"
                value={workspace}
                options={[
                  { value: '', text: 'No workspace' },
                  ...(workspaces.data?.workspaces ?? []).map(({ id, name }) => ({
                    value: String(id),
                    text: name,
                  })),
                ]}
                onValue={setWorkspace}
              />
            </div>
          </section>
          <div class="run-bar">
            {running ? (
              <button type="button" class="button" onClick={stop}>
                <Icon name="stop" />
                Stop <kbd>Esc</kbd>
              </button>
            ) : (
              <button
                type="button"
                class="button button-main"
                disabled={reason !== undefined}
                aria-keyshortcuts="Control+Enter"
                onClick={() => void run()}
              >
                <Icon name="play" />
                Run <kbd>Ctrl ↵</kbd>
              </button>
            )}
            <button
              type="button"
              class="button"
              disabled={reason !== undefined}
              onClick={() => setCode(bodyFor())}
            >
              <Icon name="code" />
              View code
            </button>
            {reason !== undefined && !isEmpty && <span class="hint">{reason}</span>}
          </div>
        </div>
        <section class="right" aria-label="Answers" aria-live="polite" ref={results}>
          {running ? (
            <Waiting />
          ) : stopped ? (
            <Empty icon="stop" title="Stopped">
              <p>The request was cancelled before it was answered.</p>
            </Empty>
          ) : outcome === undefined ? (
            <Empty icon="play" title="No answers yet">
              <p>Take an example, or write a state and a question. Then run it.</p>
            </Empty>
          ) : outcome.error ? (
            <Refused error={outcome.error} />
          ) : (
            <Results of={outcome.run} booked={outcome.booked} />
          )}
        </section>
      </div>
      {code !== undefined && (
        <CodeDialog
          input={{
            origin: location.origin,
            body: code,
            orders: orders === '' ? undefined : orders,
            evidence: false,
          }}
          onClose={() => setCode(undefined)}
        />
      )}
    </>
  )
}

function Refused({ error }: { readonly error: ApiError }) {
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
function Waiting() {
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
      <p aria-hidden="true" class="num">
        {ms >= 300 ? milliseconds(ms) : '\u00a0'}
      </p>
    </div>
  )
}
