/**
 * Models of the running server.
 *
 * @module
 */

import { useEffect, useState } from 'preact/hooks'
import { bytes, count } from '../format.js'
import { setQuery, usePlace } from '../navigation.js'
import { TextField } from '../parts/field.js'
import { Icon } from '../parts/icons.js'
import { PageHead, Status, type Tone } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { useLoad } from '../use-load.js'
import type { Models, ModelState } from '../wire.js'
import { LoadDialog } from './load-dialog.js'

export const modelTones: Readonly<Record<ModelState['state'], Tone>> = {
  ready: 'good',
  loading: 'warn',
  draining: 'warn',
  'no process': 'bad',
  failed: 'bad',
}

const stateNames: Readonly<Record<ModelState['state'], string>> = {
  ready: 'Ready',
  loading: 'Loading',
  draining: 'Finishes',
  'no process': 'Restarts',
  failed: 'Failed',
}

/** As `Ready`; while the model loads, the progress. */
export function StateOf({ of: { state, loaded } }: { readonly of: ModelState }) {
  const far = loaded === null || state !== 'loading' ? '' : ` ${Math.round(loaded * 100)}%`
  return (
    <Status tone={modelTones[state]}>
      {stateNames[state]}
      {far}
    </Status>
  )
}

/** Resident memory of all its processes, bytes; undefined if unknown. */
export function memoryOf({ processes }: ModelState): number | undefined {
  if (processes.length === 0) return undefined
  let sum = 0
  for (const { resident_bytes: size } of processes) {
    if (size === null) return undefined
    sum += size
  }
  return sum
}

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
    name: 'Running requests',
    end: true,
    by: (model) => model.requests_under_way,
    cell: (model) => count(model.requests_under_way),
  },
]

/** Interval of reloads, milliseconds. */
const refreshMs = 5000

/** Reloads data while the page is visible. */
export function useRefreshed<T>(path: string) {
  const loaded = useLoad<T>(path)
  const { reload } = loaded
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) reload()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [reload])
  return loaded
}

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
