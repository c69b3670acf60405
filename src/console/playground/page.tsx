/**
 * The playground: one request, edited by hand, and its answers.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { addCase, casesOfOthers } from '../compare/add-case.js'
import { counted } from '../format.js'
import { setQuery, usePlace } from '../navigation.js'
import { FormDialog } from '../parts/dialog.js'
import { copyText, PageHead } from '../parts/small.js'
import { Empty } from '../parts/states.js'
import { say } from '../parts/toast.js'
import type { ApiError } from '../server.js'
import { useKept } from '../store.js'
import { asApiError, useAction, useLoad } from '../use-load.js'
import type { Models, Workspaces } from '../wire.js'
import { CodeDialog } from './code-dialog.js'
import {
  bodyOf,
  type DraftQuestions,
  type DraftState,
  writtenQuestions,
  writtenState,
} from './draft.js'
import { ExampleRow } from './example-row.js'
import { draftsOfExample, type Example, examples, ticket } from './examples.js'
import { linkTo, readLink } from './link.js'
import { QuestionsEditor } from './questions-editor.js'
import { Results } from './results.js'
import { RequestSettings } from './request-settings.js'
import { RunBar } from './run-bar.js'
import { decide, type Run } from './run.js'
import { StateEditor } from './state-editor.js'
import type { Thresholds } from './threshold.js'
import { Refused, Waiting } from './waiting.js'

/** The request that the playground opens with. */
const first = draftsOfExample(ticket)

/** Images are kept separately: they are long, and typing does not change them. */
function useKeptState(): [DraftState, (state: DraftState) => void] {
  const [text, setText] = useKept<Pick<DraftState, 'form' | 'text'>>('oi-state', {
    form: first.state.form,
    text: first.state.text,
  })
  const [images, setImages] = useKept('oi-images', first.state.images)
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
  | { readonly run: Run; readonly charged: boolean; readonly error?: undefined }
  | { readonly error: ApiError; readonly run?: undefined }

export function PlaygroundPage() {
  const [state, setState] = useKeptState()
  const [questions, setQuestions] = useKept('oi-questions', first.questions)
  const [model, setModel] = useKept('oi-model', '')
  const [workspace, setWorkspace] = useKept('oi-workspace', '')
  const [orders, setOrders] = useKept('oi-orders', '')
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const [running, setRunning] = useState<AbortController | undefined>()
  const [thresholds, setThresholds] = useKept<Thresholds>('oi-thresholds', {})
  const [note, setNote] = useState<string | undefined>()
  const [replacing, setReplacing] = useState(false)
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
      images: JSON.stringify(state.images),
      model,
      workspaceId,
    })

  const automatic = useRef<AbortController>(undefined)
  const run = async (byItself = false) => {
    if (reason !== undefined) return
    // What the page asked by itself gives way.
    if (running !== undefined && running !== automatic.current) return
    running?.abort()
    const controller = new AbortController()
    if (byItself) automatic.current = controller
    setRunning(controller)
    setStopped(false)
    try {
      const workspaceId = workspace === '' ? undefined : Number(workspace)
      const run = await decide(bodyFor(workspaceId), orders, controller.signal)
      setOutcome({ run, charged: workspaceId !== undefined })
    } catch (error) {
      if (!controller.signal.aborted) setOutcome({ error: asApiError(error) })
      else if (!byItself) setStopped(true)
    } finally {
      setRunning((now) => (now === controller ? undefined : now))
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

  const isExample = examples.some(({ state: own }) => own === state.text)
  const insert = (example: Example) => {
    if (!isEmpty && !isExample) setReplaced({ state, questions })
    automatic.current?.abort()
    const drafts = draftsOfExample(example)
    setState(drafts.state)
    setQuestions(drafts.questions)
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
  const { query } = usePlace()
  const linked = query.get('request')
  const isReady = models.data?.models.some(({ default: is, state }) => is && state === 'ready')
  // It begins with an answer; a request by somebody else's link waits for its reader.
  const opening = useRef(linked === null)
  useEffect(() => {
    if (!opening.current || !isReady) return
    opening.current = false
    if (state.text === ticket.state && model === '' && outcome === undefined) void run(true)
  }, [isReady])
  useEffect(() => {
    if (linked === null) return
    opening.current = false
    setQuery({ request: undefined })
    void readLink(linked).then((request) => {
      if (request === undefined) return setNote('The link is damaged: nothing was changed.')
      if (!isEmpty && !isExample) setReplaced({ state, questions })
      setState({ ...request.state, images: [] })
      setQuestions(request.questions)
      setModel(request.model)
      setOrders(request.orders)
      setThresholds(request.thresholds)
      setOutcome(undefined)
      setNote('This request came with the link. Run it to see its answers.')
    })
  }, [linked])
  const link = useAction(async () => {
    const { form, text } = state
    const address = await linkTo({ state: { form, text }, questions, model, orders, thresholds })
    if (address === undefined) return setNote('The request is too long for a link.')
    await copyText(address)
    say('The link is copied. It holds the request itself: state and questions.')
  })
  const compare = () => {
    setReplacing(false)
    addCase({ form: state.form, state: state.text }, questions)
    say('The case is added to Compare.')
  }
  const replace = useAction(async () => compare())
  const error = outcome?.error
  return (
    <>
      <PageHead
        title="Playground"
        about="Ask questions about a state. Nothing is kept on the server; without a workspace nothing is charged."
      />
      <div class="two">
        <div class="left">
          {note !== undefined && (
            <p class="note" role="status">
              <span>{note}</span>
            </p>
          )}
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
          <RequestSettings
            {...{ model, orders, workspace }}
            models={models.data}
            workspaces={workspaces.data}
            onModel={setModel}
            onOrders={setOrders}
            onWorkspace={setWorkspace}
          />
          <RunBar
            isRunning={running !== undefined}
            reason={reason}
            isEmpty={isEmpty}
            hasImages={state.images.length > 0}
            onRun={() => void run()}
            onStop={stop}
            onCode={() => setCode(bodyFor())}
            onLink={() => void link.run()}
            onCompare={() => (casesOfOthers(questions) > 0 ? setReplacing(true) : compare())}
          />
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
            <Results
              of={outcome.run}
              charged={outcome.charged}
              thresholds={thresholds}
              onThresholds={setThresholds}
            />
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
            thresholds,
          }}
          onClose={() => setCode(undefined)}
        />
      )}
      {replacing && (
        <FormDialog
          title="Add to Compare"
          deed="Replace them"
          action={replace}
          onClose={() => setReplacing(false)}
        >
          <p>
            Compare has {counted(casesOfOthers(questions), 'case')} with other questions. This case
            and its questions take their place.
          </p>
        </FormDialog>
      )}
    </>
  )
}
