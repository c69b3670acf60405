/**
 * The playground: one request, edited by hand, and its answers.
 *
 * @module
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { addCase, casesOfOthers } from '../compare/add-case.js'
import { counted } from '../format.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { optionsOf, SelectField } from '../parts/field.js'
import { PageHead } from '../parts/small.js'
import { Empty } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { useAction, useLoad } from '../use-load.js'
import type { Models, Workspaces } from '../wire.js'
import { CodeDialog } from './code-dialog.js'
import { examples } from './examples.js'
import { QuestionsEditor } from './questions-editor.js'
import { Refused, Results, Waiting } from './results.js'
import { ordersOptions } from './run.js'
import { StateEditor } from './state-editor.js'
import { useRequest } from './use-request.js'

export function PlaygroundPage() {
  const models = useLoad<Models>('/models')
  const workspaces = useLoad<Workspaces>('/workspaces')
  const request = useRequest(models.data)
  const { state, questions, model, orders, thresholds, outcome, reason } = request
  const { isRunning, run, stop, insert, undo } = request
  const [code, setCode] = useState<string | undefined>()
  const [replacing, setReplacing] = useState(false)
  /** Images are too long for a link, and Compare has none. */
  const staysHere = reason !== undefined || state.images.length > 0
  const results = useRef<HTMLElement>(null)
  // On a narrow screen the answers are below the form.
  useEffect(() => {
    if (outcome !== undefined) results.current?.scrollIntoView({ block: 'nearest' })
  }, [outcome])
  const keys = useRef<(event: KeyboardEvent) => void>(() => {})
  keys.current = (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      void run()
    } else if (event.key === 'Escape' && isRunning) {
      event.preventDefault()
      stop()
    }
  }
  useEffect(() => {
    const listener = (event: KeyboardEvent) => keys.current(event)
    window.addEventListener('keydown', listener)
    return () => window.removeEventListener('keydown', listener)
  }, [])

  const card = models.data?.models.find(({ name, default: isDefault }) =>
    model === '' ? isDefault : name === model,
  )?.card
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
          {request.note !== undefined && (
            <p class="note" role="status">
              <span>{request.note}</span>
            </p>
          )}
          <div class="row examples">
            <span class="hint">Examples:</span>
            {examples.map((example) => (
              <Button small key={example.title} onClick={() => insert(example)}>
                {example.title}
              </Button>
            ))}
            {undo && (
              <Button small onClick={undo}>
                Undo
              </Button>
            )}
          </div>
          <StateEditor
            state={state}
            onState={request.setState}
            error={error}
            sees={card?.modalities.includes('image')}
          />
          <QuestionsEditor questions={questions} onQuestions={request.setQuestions} error={error} />
          <section class="part" aria-label="Settings of the request">
            <div class="pair">
              <SelectField
                label="Model"
                value={model}
                options={optionsOf('Default', models.data?.models)}
                onValue={request.setModel}
              />
              <SelectField
                label="Orders of the options"
                value={orders}
                options={ordersOptions}
                onValue={request.setOrders}
              />
              <SelectField
                label="Counts to"
                value={request.workspace}
                options={optionsOf(
                  'No workspace',
                  workspaces.data?.workspaces.filter(({ archived_at: at }) => at === null),
                )}
                onValue={request.setWorkspace}
              />
            </div>
          </section>
          <div class="row run-bar">
            {isRunning ? (
              <Button icon="stop" onClick={stop}>
                Stop <kbd>Esc</kbd>
              </Button>
            ) : (
              <Button
                kind="main"
                icon="play"
                disabled={reason !== undefined}
                keys="Control+Enter"
                onClick={() => void run()}
              >
                Run <kbd>Ctrl ↵</kbd>
              </Button>
            )}
            <Button
              icon="code"
              disabled={reason !== undefined}
              onClick={() => setCode(request.bodyFor())}
            >
              View code
            </Button>
            <Button disabled={staysHere} onClick={() => void request.link.run()}>
              Copy link
            </Button>
            <Button
              disabled={staysHere}
              onClick={() => (casesOfOthers(questions) > 0 ? setReplacing(true) : compare())}
            >
              Add to Compare
            </Button>
            {reason !== undefined && !request.isEmpty && <span class="hint">{reason}</span>}
          </div>
        </div>
        <section class="right" aria-label="Answers" aria-live="polite" ref={results}>
          {isRunning ? (
            <Waiting />
          ) : request.stopped ? (
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
              onThresholds={request.setThresholds}
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
