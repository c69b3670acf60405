/**
 * Models of the running server.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { Button } from '../parts/button.js'
import { SearchField, useSearch } from '../parts/field.js'
import { PageHead } from '../parts/small.js'
import { Empty, ErrorNote, LoadedPart } from '../parts/states.js'
import { type Column, numbers, Table } from '../parts/table.js'
import { call } from '../server.js'
import { useAction, useRefreshed } from '../use-load.js'
import type { Models, ModelState, NamedModels } from '../wire.js'
import { Disk } from './disk.js'
import { LoadDialog } from './load-dialog.js'
import { PullDialog } from './pull-dialog.js'
import { memoryColumn, runningColumn, stateColumn } from './state.js'

const columns: readonly Column<ModelState>[] = [
  {
    name: 'Name',
    head: true,
    by: ({ name }) => name,
    cell: (model) => (
      <>
        <a class="row-name" href={`#/models/${encodeURIComponent(model.name)}`}>
          {model.name}
        </a>
        <span class="sub faint">
          {model.default && <span class="tag">default</span>}
          {model.aliases.length > 0 && `also ${model.aliases.join(', ')}`}
        </span>
      </>
    ),
  },
  stateColumn,
  {
    name: 'Reads',
    cell: ({ card }) => card?.modalities.join(', ') ?? <span class="faint">not known yet</span>,
  },
  {
    name: 'Calibration',
    by: ({ card }) => card?.calibration?.data ?? '',
    cell: ({ card }) => card?.calibration?.data ?? <span class="faint">none</span>,
  },
  { name: 'Device', cell: ({ device }) => device ?? <span class="faint">–</span> },
  numbers('Processes', ({ processes }) => processes.length),
  memoryColumn,
  runningColumn,
]

type Open = { readonly load?: string | undefined } | 'pull'

export function ModelsPage() {
  const models = useRefreshed<Models>('/models')
  const disk = useRefreshed<NamedModels>('/named-models')
  const [open, setOpen] = useState<Open | undefined>()
  const close = () => setOpen(undefined)
  const fits = useSearch()
  const reload = () => {
    models.reload()
    disk.reload()
  }
  return (
    <>
      <PageHead title="Models" about="The models that this server answers with now.">
        <Button disabled={disk.data === undefined} onClick={() => setOpen('pull')}>
          Pull model
        </Button>
        <Button
          kind="main"
          icon="plus"
          disabled={models.data === undefined}
          onClick={() => setOpen({})}
        >
          Load model
        </Button>
      </PageHead>
      <LoadedPart of={models}>
        {({ models: all, under_way: underWay }) => {
          const shown = all.filter(({ name, aliases }) => [name, ...aliases].some(fits))
          return (
            <>
              <Changes of={underWay} />
              {all.length > 8 && (
                <div class="filters" role="search">
                  <SearchField placeholder="Name or alias" />
                </div>
              )}
              {all.length === 0 ? (
                <Empty icon="models" title="No model is loaded">
                  <p>Until there is one, requests are refused with status 503.</p>
                </Empty>
              ) : shown.length === 0 ? (
                <Empty icon="models" title="No model fits" />
              ) : (
                <Table label="Models" columns={columns} rows={shown} rowKey={({ name }) => name} />
              )}
            </>
          )
        }}
      </LoadedPart>
      {disk.data && <Disk of={disk.data} onLoad={(load) => setOpen({ load })} onChanged={reload} />}
      {open === 'pull' && disk.data && (
        <PullDialog
          on={disk.data}
          onClose={close}
          onStarted={models.reload}
          onPulled={({ name }) => {
            reload()
            // Its dialog may have been closed meanwhile.
            setOpen((open) => (open === 'pull' ? { load: name } : open))
          }}
        />
      )}
      {typeof open === 'object' && (
        <LoadDialog
          named={(disk.data?.models ?? []).filter(
            ({ loaded, state, name }) => (!loaded && state !== 'unfinished') || name === open.load,
          )}
          chosen={open.load}
          onClose={close}
          onStarted={models.reload}
          onLoaded={() => {
            close()
            reload()
          }}
        />
      )}
    </>
  )
}

type Change = Models['under_way'][number]

/** The changes of models that run now. */
function Changes({ of: changes }: { readonly of: readonly Change[] }) {
  return (
    <>
      {changes.map((change) => (
        <Running key={`${change.action} ${change.target}`} of={change} />
      ))}
    </>
  )
}

function Running({ of: { action, target, progress } }: { readonly of: Change }) {
  const stop = useAction(() => call(`/pulls/${encodeURIComponent(target)}`, { method: 'DELETE' }))
  return (
    <div>
      <p class="note" role="status">
        <span class="spinner" aria-hidden="true" />
        <span>
          {deeds[action]} <span class="mono">{target}</span>: {progress}
        </span>
        {action === 'model.pull' && (
          <Button action={stop}>
            Stop<span class="visually-hidden"> pulling {target}</span>
          </Button>
        )}
      </p>
      <ErrorNote error={stop.error} />
    </div>
  )
}

const deeds: Readonly<Record<Change['action'], string>> = {
  'model.load': 'Loading',
  'model.reload': 'Reloading',
  'model.unload': 'Unloading',
  'model.pull': 'Pulling',
}
