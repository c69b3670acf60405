/**
 * One model: its card, its processes, its prices, and the actions on it.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { bytes, count, counted } from '../format.js'
import { goTo } from '../navigation.js'
import { Button } from '../parts/button.js'
import { FormDialog } from '../parts/dialog.js'
import { Facts, PageHead, Time } from '../parts/small.js'
import { ErrorNote, LoadedPart } from '../parts/states.js'
import { say } from '../parts/toast.js'
import { call } from '../server.js'
import { useAction, useRefreshed } from '../use-load.js'
import type { ModelCard, ModelState } from '../wire.js'
import { PriceForm } from './price-form.js'
import { memoryOf, StateOf } from './state.js'

export function ModelPage({ name }: { readonly name: string }) {
  const path = `/models/${encodeURIComponent(name)}`
  const model = useRefreshed<ModelState>(path)
  const [open, setOpen] = useState<'reload' | 'unload' | undefined>()
  const close = () => setOpen(undefined)
  const reload = useAction(async () => {
    close()
    const next = await call<ModelState>(`${path}/reload`, { method: 'POST' })
    model.put(() => next)
    say(`${name} is reloaded.`)
  })
  const keep = useAction(async () => {
    const body = { keep: model.data!.origin === 'loaded' }
    const next = await call<ModelState>(`${path}/keep`, { method: 'PUT', body })
    model.put(() => next)
    say(body.keep ? `${name} is loaded at the next start, too.` : `${name} is kept no more.`)
  })
  const unload = useAction(async () => {
    await call(path, { method: 'DELETE' })
    say(`${name} is unloaded.`)
    goTo('/models')
  })
  return (
    <>
      <p class="trail">
        <a href="#/models">Models</a>
      </p>
      <PageHead title={model.data?.name ?? name} about={model.data?.card?.description}>
        {model.data !== undefined && model.data.origin !== 'settings' && (
          <Button action={keep}>
            {model.data.origin === 'kept' ? 'Keep no more' : 'Keep over restarts'}
          </Button>
        )}
        <Button
          disabled={model.data === undefined}
          busy={reload.busy}
          onClick={() => !reload.busy && setOpen('reload')}
        >
          {reload.busy ? 'Reloading…' : 'Reload…'}
        </Button>
        <Button disabled={model.data === undefined} onClick={() => setOpen('unload')}>
          Unload…
        </Button>
      </PageHead>
      <ErrorNote error={reload.error ?? keep.error} />
      <LoadedPart of={model}>
        {(data) => (
          <div class="cards">
            <section class="card" aria-labelledby="runs-title">
              <h2 id="runs-title">Runs</h2>
              <Runs of={data} />
            </section>
            {data.card && (
              <>
                <section class="card" aria-labelledby="card-title">
                  <h2 id="card-title">Card</h2>
                  <Card of={data.card} />
                </section>
                <section class="card" aria-labelledby="limits-title">
                  <h2 id="limits-title">Limits</h2>
                  <Limits of={data.card} />
                </section>
              </>
            )}
            <section class="card" aria-labelledby="price-title">
              <h2 id="price-title">Price</h2>
              <PriceForm model={data.name} />
            </section>
          </div>
        )}
      </LoadedPart>
      {open === 'reload' && (
        <FormDialog title={`Reload ${name}`} deed="Reload model" action={reload} onClose={close}>
          <p>
            The file is reopened beside the running model, which answers until the new one is ready.
            For that time both need memory.
          </p>
        </FormDialog>
      )}
      {open === 'unload' && (
        <FormDialog
          title={`Unload ${name}`}
          deed="Unload model"
          danger
          action={unload}
          onClose={close}
        >
          <p>
            It finishes its running requests. New requests that name it are refused; its usage
            stays.
          </p>
        </FormDialog>
      )}
    </>
  )
}

function Runs({ of: model }: { readonly of: ModelState }) {
  const memory = memoryOf(model)
  const ends = Object.entries(model.ends)
  return (
    <>
      {model.reason !== null && <p class="note note-bad">{model.reason}</p>}
      <Facts
        of={[
          ['State', <StateOf of={model} />],
          ['Since', <Time at={model.since} />],
          ['Default', model.default ? 'yes' : 'no'],
          ['At the next start', nextStart[model.origin]],
          ['Aliases', model.aliases.join(', ') || 'none'],
          ['Device', model.device ?? 'not known'],
          [
            'Processes',
            model.processes.length === 0
              ? 'none'
              : model.processes.map(({ pid }) => `pid ${pid}`).join(', '),
          ],
          ['Memory', memory === undefined ? 'not known' : `${bytes(memory)} resident`],
          ['Running', counted(model.requests_under_way, 'request')],
          [
            'Crashes',
            ends.length === 0 ? 'none' : ends.map(([why, times]) => `${why} ${times}`).join(', '),
          ],
          ['Retries', counted(model.asked_again, 'request')],
          ['Given up', counted(model.gave_up, 'request')],
          ['File', <span class="mono">{model.file}</span>],
        ]}
      />
    </>
  )
}

const nextStart: Readonly<Record<ModelState['origin'], string>> = {
  settings: 'loaded, as the settings name it',
  kept: 'loaded, as it is kept',
  loaded: 'not loaded',
}

function Card({ of: card }: { readonly of: ModelCard }) {
  return (
    <Facts
      of={[
        ['Released', card.release_date],
        ['Reads', card.modalities.join(', ')],
        ['Readout', <span class="mono">{card.readout}</span>],
        [
          'Calibration',
          card.calibration
            ? `${card.calibration.data}, ${card.calibration.date}, ${counted(card.calibration.observations, 'answer')}`
            : 'none',
        ],
        ['Weights', <span class="mono">{card.digest}</span>],
      ]}
    />
  )
}

function Limits({ of: { limits } }: { readonly of: ModelCard }) {
  return (
    <Facts
      of={[
        ['State', `${count(limits.max_state_tokens)} tokens, the longest question included`],
        ['Options', `${count(limits.max_options)} in a choice`],
        ['Levels', `${count(limits.max_levels)} in a score`],
        ['Questions', `${count(limits.max_questions)} in a request`],
        ['All options', `${count(limits.max_options_per_request)} in a request`],
        [
          'Images',
          limits.max_images === 0
            ? 'none'
            : `${count(limits.max_images)} in a request, ${count(limits.max_image_pixels)} pixels each`,
        ],
        ['Batch', counted(limits.max_batch, 'request')],
        ['Body', bytes(limits.max_body_bytes)],
        ['Reply', bytes(limits.max_reply_bytes)],
      ]}
    />
  )
}
