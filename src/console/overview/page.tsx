/**
 * The overview, the first page: how the server does, and how the last hour was.
 *
 * @module
 */

import { count, milliseconds, percent, rate } from '../format.js'
import { memoryColumn, runningColumn, stateColumn } from '../models/state.js'
import { PageHead } from '../parts/small.js'
import { BadNote, Empty, LoadedPart } from '../parts/states.js'
import { type Column, numbers, Table } from '../parts/table.js'
import { useRefreshed } from '../use-load.js'
import type { Models, ModelState, Overview, Server } from '../wire.js'
import { Charts } from './charts.js'
import { Minutes } from './minutes.js'

export function OverviewPage() {
  const overview = useRefreshed<Overview>('/overview')
  const models = useRefreshed<Models>('/models')
  const server = useRefreshed<Server>('/server')
  return (
    <>
      <PageHead
        title="Overview"
        about="The last hour of this server. It is kept in memory: a restart begins anew. All times are UTC."
      />
      <Troubles server={server.data} models={models.data} />
      <LoadedPart of={overview}>
        {(data) => (
          <>
            <Figures of={data} />
            {isQuiet(data) ? <Quiet /> : <Charts of={data} />}
            <section aria-labelledby="models-title">
              <h2 id="models-title">Models</h2>
              <LoadedPart of={models}>
                {({ models: all }) => <ModelTable of={all} overview={data} />}
              </LoadedPart>
            </section>
            {!isQuiet(data) && <Minutes of={data} />}
          </>
        )}
      </LoadedPart>
    </>
  )
}

/** The figures of the last minute. */
function Figures({ of: { last_minute: minute, waiting } }: { readonly of: Overview }) {
  const per = (decisions: number) =>
    minute.seconds === 0 ? '–' : `${rate(decisions / minute.seconds)}/s`
  const ms = (value: number | null) => (value === null ? '–' : milliseconds(value))
  const share = (value: number | null) => (value === null ? '–' : percent(value))
  const figures: readonly (readonly [string, string])[] = [
    [per(minute.answered), 'Answered'],
    [per(minute.refused + minute.failed), 'Refused or failed'],
    [ms(minute.p50_ms), 'Time to an answer, median'],
    [ms(minute.p95_ms), '95 of 100 are faster'],
    [count(waiting), 'Waiting now'],
    [share(minute.busy), 'Busiest model at work'],
    [share(minute.cache_hits), 'Found in the cache'],
  ]
  return (
    <section aria-label="The last minute">
      <ul class="figures">
        {figures.map(([value, text]) => (
          <li key={text}>
            <span class="figure">{value}</span>
            <span class="faint">{text}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function isQuiet({ last_hour: hour }: Overview): boolean {
  return hour.answered + hour.refused + hour.failed + hour.gone === 0
}

function Quiet() {
  return (
    <Empty icon="overview" title="No request for a decision has come in this hour">
      <p>Try a request in the playground, or make a key for an application.</p>
      <div class="row">
        <a class="button button-main" href="#/playground">
          Open the playground
        </a>
        <a class="button" href="#/keys">
          API keys
        </a>
      </div>
    </Empty>
  )
}

interface TroublesProps {
  readonly server: Server | undefined
  readonly models: Models | undefined
}

/** What needs somebody now. */
function Troubles({ server, models }: TroublesProps) {
  const failed = (models?.models ?? []).filter(({ state }) =>
    ['failed', 'no process'].includes(state),
  )
  const texts = [
    ...(server?.accounts.trouble ? [`Accounts: ${server.accounts.trouble}`] : []),
    ...failed.map(
      ({ name, state, reason }) =>
        `Model ${name}: ${reason ?? (state === 'failed' ? 'it could not be loaded' : 'its process has ended and is being started again')}`,
    ),
  ]
  return (
    <>
      {texts.map((text) => (
        <BadNote key={text}>{text}</BadNote>
      ))}
    </>
  )
}

interface ModelTableProps {
  readonly of: readonly ModelState[]
  readonly overview: Overview
}

function ModelTable({ of: models, overview }: ModelTableProps) {
  const minutes = (name: string) => {
    const found = overview.models.find(({ model }) => model === name)
    return found && busyShare(found.busy, overview.seconds)
  }
  const columns: readonly Column<ModelState>[] = [
    {
      name: 'Name',
      head: true,
      by: ({ name }) => name,
      cell: ({ name, default: isDefault }) => (
        <>
          <a class="row-name" href={`#/models/${encodeURIComponent(name)}`}>
            {name}
          </a>
          {isDefault && (
            <span class="sub">
              <span class="tag">default</span>
            </span>
          )}
        </>
      ),
    },
    stateColumn,
    memoryColumn,
    runningColumn,
    numbers('In its queue', ({ name }) => queuedOf(overview, name)),
    numbers('Worked, last minute', ({ name }) => minutes(name), percent),
    numbers('Crashes', crashesOf),
  ]
  return <Table label="Models" columns={columns} rows={models} rowKey={({ name }) => name} />
}

function queuedOf({ models }: Overview, name: string): number {
  return models.find(({ model }) => model === name)?.queued ?? 0
}

const crashesOf = ({ ends }: ModelState) => Object.values(ends).reduce((sum, n) => sum + n, 0)

/** The share of the last minute in which a model worked. */
function busyShare(busy: readonly number[], seconds: readonly number[]): number {
  const from = Math.max(0, busy.length - 6)
  const time = seconds.slice(from).reduce((sum, s) => sum + s, 0)
  const worked = busy.slice(from).reduce((sum, share, i) => sum + share * seconds[from + i]!, 0)
  return time === 0 ? 0 : worked / time
}
