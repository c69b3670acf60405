/**
 * Tables of any length: sorted by any column, shown in pages, as cards on a narrow screen.
 *
 * @module
 */

import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { count } from '../format.js'
import { Icon } from './icons.js'
import { usePages } from './pager.js'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ComponentChildren
  /** The sort key; a column without it is not sortable. */
  readonly by?: (row: T) => string | number
  /** Right-aligned, for numbers. */
  readonly end?: boolean
  /** Whether it names the row. */
  readonly head?: boolean
  /** Whether its name is for screen readers only. */
  readonly silent?: boolean
}

/** A column of numbers, by which it is sorted. @param by - Null or undefined: not known. */
export const numbers = <T,>(
  name: string,
  by: (row: T) => number | null | undefined,
  show: (value: number) => string = count,
): Column<T> => ({
  ...{ name, end: true, by: (row) => by(row) ?? -1 },
  cell: (row) => {
    const value = by(row) ?? undefined
    return value === undefined ? <span class="faint">–</span> : show(value)
  },
})

interface TableProps<T> {
  /** What it lists, for screen readers. */
  readonly label: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly rowKey: (row: T) => string | number
  readonly pageSize?: number
}

interface Sorting {
  readonly column: string
  readonly descending: boolean
}

export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, rowKey, pageSize = 50 } = props
  const [sorting, setSorting] = useState<Sorting | undefined>()
  const sorted = useMemo(() => sortedBy(rows, columns, sorting), [rows, columns, sorting])
  const { visible, pager, toFirst } = usePages(sorted, pageSize, label)
  const sort = (column: string) => {
    const again = sorting?.column === column
    setSorting({ column, descending: again && !sorting.descending })
    toFirst()
  }
  const wrap = useRef<HTMLDivElement>(null)
  const scrolls = useOverflow(wrap)
  // Explicit roles, as a table laid out as cards loses its own.
  return (
    <>
      <div
        ref={wrap}
        class="table-wrap"
        {...(scrolls && { tabIndex: 0, role: 'region', 'aria-label': `${label}, scrollable` })}
      >
        <table role="table" aria-label={label} aria-rowcount={sorted.length + 1}>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column, i) => (
                <Heading key={i} column={column} sorting={sorting} onSort={sort} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {visible.map((row) => (
              <tr role="row" key={rowKey(row)}>
                {columns.map((column, i) => (
                  <Cell key={i} column={column} row={row} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {pager}
    </>
  )
}

/** Whether a box is too narrow for its content: then the keyboard must be able to scroll it. */
function useOverflow(box: RefObject<HTMLElement | null>): boolean {
  const [over, setOver] = useState(false)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const look = () => setOver(current.scrollWidth > current.clientWidth)
    const observer = new ResizeObserver(look)
    observer.observe(current)
    observer.observe(current.firstElementChild!)
    return () => observer.disconnect()
  }, [box])
  return over
}

interface HeadingProps<T> {
  readonly column: Column<T>
  readonly sorting: Sorting | undefined
  readonly onSort: (column: string) => void
}

function Heading<T>({ column, sorting, onSort }: HeadingProps<T>) {
  const { name, by, end, silent } = column
  const mine = sorting?.column === name
  const order = mine ? (sorting.descending ? 'descending' : 'ascending') : undefined
  return (
    <th role="columnheader" scope="col" class={end ? 'end' : undefined} aria-sort={order}>
      {by === undefined ? (
        <span class={silent ? 'visually-hidden' : undefined}>{name}</span>
      ) : (
        <button type="button" class="link sort" onClick={() => onSort(name)}>
          {name}
          <span class={mine ? 'sort-mark' : 'sort-mark sort-mark-off'}>
            <Icon name={mine && !sorting.descending ? 'up' : 'down'} />
          </span>
        </button>
      )}
    </th>
  )
}

function Cell<T>({ column, row }: { readonly column: Column<T>; readonly row: T }) {
  const { name, cell, end, head, silent } = column
  const content = cell(row)
  const label = silent ? undefined : name
  if (head) {
    return (
      <th role="rowheader" scope="row" data-label={label}>
        {content}
      </th>
    )
  }
  return (
    <td role="cell" class={end ? 'end' : undefined} data-label={label}>
      {content}
    </td>
  )
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

function sortedBy<T>(
  rows: readonly T[],
  columns: readonly Column<T>[],
  sorting: Sorting | undefined,
): readonly T[] {
  const by = columns.find(({ name }) => name === sorting?.column)?.by
  if (by === undefined) return rows
  const sign = sorting!.descending ? -1 : 1
  const keyed = rows.map((row) => ({ row, key: by(row) }))
  keyed.sort((a, b) => {
    if (typeof a.key === 'number' && typeof b.key === 'number') return sign * (a.key - b.key)
    return sign * collator.compare(String(a.key), String(b.key))
  })
  return keyed.map(({ row }) => row)
}
