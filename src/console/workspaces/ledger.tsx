/**
 * The ledger of a workspace, in pages.
 *
 * @module
 */

import { count, credits } from '../format.js'
import { trailSize, useTrail } from '../parts/pager.js'
import { ExactTime } from '../parts/small.js'
import { Empty, LoadedPart } from '../parts/states.js'
import { type Column, Table } from '../parts/table.js'
import { withQuery } from '../server.js'
import { useLoad } from '../use-load.js'
import type { LedgerPage, LedgerRow } from '../wire.js'

const kinds: Readonly<Record<LedgerRow['kind'], string>> = {
  usage: 'Answers',
  credit: 'Credit',
  unlimited: 'Limit lifted',
}

const amountOf = (row: LedgerRow): string => `${row.amount > 0 ? '+' : ''}${credits(row.amount)}`

const columns: readonly Column<LedgerRow>[] = [
  {
    name: 'Time (UTC)',
    head: true,
    cell: ({ time }) => <ExactTime at={time} />,
  },
  {
    name: 'What',
    cell: (row) =>
      row.kind === 'usage' && row.answers < 0 ? 'Answer taken back' : kinds[row.kind],
  },
  { name: 'Answers', end: true, cell: (row) => (row.kind === 'usage' ? count(row.answers) : '–') },
  { name: 'Key', cell: ({ key }) => key ?? <span class="faint">none</span> },
  { name: 'Model', cell: ({ model }) => model ?? <span class="faint">none</span> },
  { name: 'Input tokens', end: true, cell: (row) => count(row.input_tokens) },
  { name: 'Output tokens', end: true, cell: (row) => count(row.output_tokens) },
  { name: 'Cost (credits)', end: true, cell: (row) => credits(row.cost) },
  {
    name: 'Change (credits)',
    end: true,
    cell: (row) => <span class={row.amount > 0 ? 'good' : undefined}>{amountOf(row)}</span>,
  },
]

export function Ledger({ workspaceId }: { readonly workspaceId: number }) {
  const { before, isFirst, pager } = useTrail<string>('the ledger')
  const query = { before, limit: trailSize }
  const page = useLoad<LedgerPage>(withQuery(`/workspaces/${workspaceId}/ledger`, query))
  return (
    <LoadedPart of={page}>
      {({ rows, next_before: next }) => {
        if (rows.length === 0 && isFirst) {
          return <Empty icon="usage" title="Nothing has been charged yet" />
        }
        return (
          <>
            <Table
              label="Ledger"
              columns={columns}
              rows={rows}
              rowKey={({ id }) => id}
              pageSize={trailSize}
            />
            {pager(rows, next, page.loading)}
          </>
        )
      }}
    </LoadedPart>
  )
}
