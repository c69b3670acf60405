/**
 * The request of the playground: kept in this tab, sent, and taken from an example or a link.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { setQuery, usePlace } from '../navigation.js'
import { copyText } from '../parts/small.js'
import { say } from '../parts/toast.js'
import type { ApiError } from '../server.js'
import { useKept } from '../store.js'
import { asApiError, useAction } from '../use-load.js'
import type { Models } from '../wire.js'
import {
  bodyOf,
  type DraftQuestions,
  type DraftState,
  writtenQuestions,
  writtenState,
} from './draft.js'
import { draftsOfExample, type Example, examples, ticket } from './examples.js'
import { linkTo, readLink } from './link.js'
import { decide, type Run } from './run.js'
import type { Thresholds } from './threshold.js'

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

export function useRequest(models: Models | undefined) {
  const [state, setState] = useKeptState()
  const [questions, setQuestions] = useKept('oi-questions', first.questions)
  const [model, setModel] = useKept('oi-model', '')
  const [workspace, setWorkspace] = useKept('oi-workspace', '')
  const [orders, setOrders] = useKept('oi-orders', '')
  const [thresholds, setThresholds] = useKept<Thresholds>('oi-thresholds', {})
  const [outcome, setOutcome] = useState<Outcome | undefined>()
  const [running, setRunning] = useState<AbortController | undefined>()
  const [stopped, setStopped] = useState(false)
  const [note, setNote] = useState<string | undefined>()
  const [replaced, setReplaced] = useState<Replaced | undefined>()

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
  const leaving = useRef(stop)
  leaving.current = stop
  // Leaving the page cancels its request.
  useEffect(() => () => leaving.current(), [])

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
  const { query } = usePlace()
  const linked = query.get('request')
  const isReady = models?.models.some(({ default: is, state }) => is && state === 'ready')
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
  return {
    ...{ state, setState, questions, setQuestions, model, setModel, workspace, setWorkspace },
    ...{ orders, setOrders, thresholds, setThresholds, outcome, stopped, note, reason, isEmpty },
    ...{ bodyFor, run, stop, insert, link },
    isRunning: running !== undefined,
    undo: replaced && (() => bringBack(replaced)),
  }
}
