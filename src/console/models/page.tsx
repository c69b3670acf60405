/**
 * Models of the running server.
 *
 * @module
 */

import { useState } from 'preact/hooks'
import { bytes, count } from '../format.js'
import { setQuery, usePlace } from '../navigation.js'
import { TextField } from '../parts/field.js'
import { Icon } from '../parts/icons.js'
import { PageHead } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { useRefreshed } from '../use-load.js'
import type { Models, ModelState } from '../wire.js'
import { LoadDialog } from './load-dialog.js'
import { memoryOf, StateOf } from './state.js'

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
  { name: 'State', by: ({ state }) => state, cell: (model) => <StateOf of={model} /> },
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
  {
    name: 'Processes',
    end: true,
    by: ({ processes }) => processes.length,
    cell: ({ processes }) => count(processes.length),
  },
  {
    name: 'Memory',
    end: true,
    by: (model) => memoryOf(model) ?? 0,
    cell: (model) => {
      const size = memoryOf(model)
      return size === undefined ? <span class="faint">–</span> : bytes(size)
    },
  },
  {
    name: 'Running',
    end: true,
    by: (model) => model.requests_under_way,
    cell: (model) => count(model.requests_under_way),
  },
]

export function ModelsPage() {
  const models = useRefreshed<Models>('/models')
  const [loading, setLoading] = useState(false)
  const { query } = usePlace()
  const search = query.get('search') ?? ''
  return (
    <>
      <PageHead title="Models" about="The models that this server answers with now.">
        <button type="button" class="button button-main" onClick={() => setLoading(true)}>
          <Icon name="plus" />
          Load model
        </button>
      </PageHead>
      <LoadedPart of={models}>
        {({ models: all, under_way: underWay }) => {
          const wanted = search.trim().toLowerCase()
          const shown = all.filter(({ name, aliases }) =>
            [name, ...aliases].some((one) => one.toLowerCase().includes(wanted)),
          )
          return (
            <>
              {underWay.map(({ action, target, progress }) => (
                <p key={`${action} ${target}`} class="note" role="status">
                  <span class="spinner" aria-hidden="true" />
                  <span>
                    {deeds[action]} <span class="mono">{target}</span>: {progress}
                  </span>
                </p>
              ))}
              {all.length > 8 && (
                <div class="filters" role="search">
                  <TextField
                    label="Search"
                    value={search}
                    onValue={(search) => setQuery({ search })}
                    input={{ type: 'search', placeholder: 'Name or alias' }}
                  />
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
      {loading && (
        <LoadDialog
          onClose={() => setLoading(false)}
          onStarted={models.reload}
          onLoaded={() => {
            setLoading(false)
            models.reload()
          }}
        />
      )}
    </>
  )
}

const deeds: Readonly<Record<Models['under_way'][number]['action'], string>> = {
  'model.load': 'Loading',
  'model.reload': 'Reloading',
  'model.unload': 'Unloading',
}
