/**
 * Usage by workspace, key or model, over hours or days.
 *
 * @module
 */

import { useMemo } from 'preact/hooks'
import { BarChart } from '../charts/bar-chart.js'
import { Legend } from '../charts/tip.js'
import { compact, count, credits, dateTime } from '../format.js'
import { setQuery, usePlace } from '../navigation.js'
import { Button } from '../parts/button.js'
import { optionsOf, Segments, SelectField, TextField } from '../parts/field.js'
import { PageHead } from '../parts/small.js'
import { saveFile } from '../parts/save-file.js'
import { Empty, ErrorNote, LoadedPart } from '../parts/states.js'
import { type Column, numbers, Table } from '../parts/table.js'
import { callText, withQuery } from '../server.js'
import { useAction, useLoad } from '../use-load.js'
import type { Keys, Usage, Workspaces } from '../wire.js'
import { longestDays, rangeOf, ranges, wholeSpan } from './range.js'
import { barsOf, type Measure, measures, sumOf, type Total, totalsOf } from './series.js'

const groupings = [
  { value: 'workspace', text: 'Workspace' },
  { value: 'key', text: 'Key' },
  { value: 'model', text: 'Model' },
]

export function UsagePage() {
  const { query } = usePlace()
  const by = oneOf(query.get('by'), groupings) ?? 'workspace'
  const measure = oneOf(query.get('measure'), measures) ?? 'requests'
  const range = oneOf(query.get('range'), ranges) ?? 'all'
  const workspaceId = query.get('workspace_id') ?? ''
  const keyId = by === 'workspace' ? '' : (query.get('key_id') ?? '')
  const custom = { from: query.get('from') ?? '', to: query.get('to') ?? '' }
  // Rounded to the minute: the address, and so the loaded data, stays the same while the page is
  // shown.
  const firstPath = useMemo(
    () => (range === 'all' ? firstQuery({ workspace_id: workspaceId, key_id: keyId }) : undefined),
    [range, workspaceId, keyId],
  )
  const first = useLoad<Usage>(firstPath)
  const span = useMemo(() => {
    if (range !== 'all') return rangeOf(range, custom)
    return first.data && first.path === firstPath ? wholeSpan(firstStart(first.data)) : undefined
  }, [range, custom.from, custom.to, first.data, first.path, firstPath])
  const asked = { by, ...span, workspace_id: workspaceId, key_id: keyId }
  const loaded = useLoad<Usage>(span && withQuery('/usage', asked))
  const usage = loaded.data === undefined && first.error !== undefined ? first : loaded
  const workspaces = useLoad<Workspaces>('/workspaces')
  const keys = useLoad<Keys>(by === 'workspace' ? undefined : '/keys')
  const download = useAction(async () => {
    const { text, headers } = await callText(withQuery('/usage', { ...asked, format: 'csv' }))
    const [, name] = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '') ?? []
    // Without this mark, spreadsheets assume the system's own encoding.
    saveFile(name ?? 'usage.csv', 'text/csv', `\uFEFF${text}`)
  })
  return (
    <>
      <PageHead title="Usage" about="Answered requests and their tokens. All times are UTC.">
        <Button onClick={usage.reload}>Refresh</Button>
        <Button action={download}>Download CSV</Button>
      </PageHead>
      <ErrorNote error={download.error} />
      <div class="filters">
        <Segments
          label="By"
          value={by}
          options={groupings}
          onValue={(by) => setQuery({ by, key_id: undefined })}
        />
        <SelectField
          label="Time"
          value={range}
          options={ranges}
          onValue={(range) => setQuery({ range })}
        />
        {range === 'custom' && (
          <>
            <TextField
              label="From"
              value={custom.from}
              onValue={(from) => setQuery({ from })}
              input={{ type: 'date' }}
            />
            <TextField
              label="To, inclusive"
              value={custom.to}
              onValue={(to) => setQuery({ to })}
              input={{ type: 'date' }}
            />
          </>
        )}
        <SelectField
          label="Workspace"
          value={workspaceId}
          options={optionsOf('All', workspaces.data?.workspaces)}
          onValue={(workspace_id) => setQuery({ workspace_id, key_id: undefined })}
        />
        {by !== 'workspace' && (
          <SelectField
            label="Key"
            value={keyId}
            options={optionsOf(
              'All',
              keys.data?.keys
                .filter((key) => workspaceId === '' || String(key.workspace_id) === workspaceId)
                .map(({ id, name, hint }) => ({ id, name: `${name} (${hint})` })),
            )}
            onValue={(key_id) => setQuery({ key_id })}
          />
        )}
        <SelectField
          label="Chart"
          value={measure}
          options={measures}
          onValue={(measure) => setQuery({ measure })}
        />
      </div>
      <LoadedPart of={usage}>{(data) => <Shown of={data} measure={measure} />}</LoadedPart>
    </>
  )
}

/** Usage by day, of few rows: it tells when there was any. */
function firstQuery(whose: { readonly workspace_id: string; readonly key_id: string }): string {
  const dayMs = 86_400_000
  const from = new Date(Math.floor(Date.now() / dayMs) * dayMs - (longestDays - 1) * dayMs)
  return withQuery('/usage', { by: 'model', per: 'day', from: from.toISOString(), ...whose })
}

/** The beginning of the first day of usage. */
function firstStart({ rows }: Usage): number | undefined {
  return rows.length === 0 ? undefined : Math.min(...rows.map(({ start }) => Date.parse(start)))
}

function Shown({ of: usage, measure }: { readonly of: Usage; readonly measure: Measure }) {
  const bars = useMemo(() => barsOf(usage, measure), [usage, measure])
  const totals = useMemo(() => totalsOf(usage), [usage])
  const show = measure === 'cost' ? (value: number) => `${credits(value)} credits` : count
  const showShort = measure === 'cost' ? (value: number) => compact(value / 1e6) : compact
  const label = measures.find(({ value }) => value === measure)!.text
  if (usage.rows.length === 0) {
    return (
      <Empty icon="usage" title="Nothing was used in this time">
        <p>
          From {dateTime(usage.from)} to {dateTime(usage.to)} UTC no request was answered.
        </p>
      </Empty>
    )
  }
  const columns = columnsOf(usage)
  return (
    <>
      <ul class="figures">
        {measures.map(({ value, text }) => (
          <li key={value}>
            <span class="figure">
              {value === 'cost' ? credits(sumOf(totals, value)) : count(sumOf(totals, value))}
            </span>
            <span class="faint">{text}</span>
          </li>
        ))}
      </ul>
      <figure class="card chart-card">
        <figcaption>
          <h2>
            {label} per {usage.per}
          </h2>
          <p class="faint">
            {dateTime(usage.from)} to {dateTime(usage.to)} UTC
          </p>
        </figcaption>
        <BarChart bars={bars} per={usage.per} label={label} show={show} showShort={showShort} />
        <Legend
          of={bars.series.map(({ key, name, total }) => ({ key, name, text: show(total) }))}
        />
      </figure>
      <h2>Totals</h2>
      <Table
        label={`Usage by ${usage.by}`}
        columns={columns}
        rows={totals}
        rowKey={({ key }) => key}
      />
      <details class="values">
        <summary>
          Values for each {usage.per} ({label.toLowerCase()})
        </summary>
        <Table
          label={`${label} for each ${usage.per}`}
          rows={bars.slots.map((slot, i) => ({ slot, i })).reverse()}
          rowKey={({ slot }) => slot}
          columns={[
            {
              name: usage.per === 'day' ? 'Day (UTC)' : 'Hour (UTC)',
              head: true,
              cell: ({ slot }) =>
                usage.per === 'day' ? dateTime(slot).slice(0, 10) : dateTime(slot),
            },
            ...bars.series.map(({ name, values }, rank) => ({
              name: name === '' ? `Series ${rank + 1}` : name,
              end: true,
              cell: ({ i }: { readonly i: number }) => show(values[i]!),
            })),
          ]}
        />
      </details>
    </>
  )
}

function columnsOf({ by }: Usage): readonly Column<Total>[] {
  return [
    {
      name: groupings.find(({ value }) => value === by)!.text,
      head: true,
      by: ({ name }) => name,
      cell: (total) => (
        <>
          <span class="row-name">{total.name}</span>
          {by === 'key' && <span class="sub faint">{total.workspace}</span>}
        </>
      ),
    },
    ...measures.map(({ value, text }) =>
      numbers<Total>(
        value === 'requests' ? 'Requests' : text,
        (total) => total[value],
        value === 'cost' ? credits : count,
      ),
    ),
  ]
}

function oneOf<T extends string>(
  value: string | null,
  options: readonly { readonly value: T }[],
): T | undefined {
  return options.find((option) => option.value === value)?.value
}
