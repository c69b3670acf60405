/**
 * Navigation between the pages of a list.
 *
 * @module
 */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { count, dateTime } from '../format.js'
import { Button } from './button.js'

interface PagerProps {
  /** What the pages list. */
  readonly label: string
  /** The present page, in words. */
  readonly text: string
  /** Names, and what they do; undefined: there is no such page. */
  readonly steps: readonly (readonly [name: string, go: (() => void) | undefined])[]
}

function Pager({ label, text, steps }: PagerProps) {
  return (
    <nav class="row pager" aria-label={`Pages of ${label}`}>
      <span>{text}</span>
      {steps.map(([name, go]) => (
        <Button key={name} busy={go === undefined} onClick={() => go?.()}>
          {name}
        </Button>
      ))}
    </nav>
  )
}

interface Pages<T> {
  /** The rows of the present page. */
  readonly visible: readonly T[]
  /** Nothing if there is one page. */
  readonly pager: ComponentChildren
  readonly toFirst: () => void
}

/** Pages of a list that is known whole. */
export function usePages<T>(rows: readonly T[], size: number, label: string): Pages<T> {
  const [page, setPage] = useState(0)
  const pages = Math.max(1, Math.ceil(rows.length / size))
  const shown = Math.min(page, pages - 1)
  const visible = rows.slice(shown * size, (shown + 1) * size)
  const [from, to] = [shown * size + 1, shown * size + visible.length]
  const pager = pages > 1 && (
    <Pager
      label={label}
      text={`${count(from)}–${count(to)} of ${count(rows.length)}`}
      steps={[
        ['Previous', shown === 0 ? undefined : () => setPage(shown - 1)],
        ['Next', shown >= pages - 1 ? undefined : () => setPage(shown + 1)],
      ]}
    />
  )
  return { visible, pager, toFirst: () => setPage(0) }
}

/** The rows of a page of {@link useTrail}. */
export const trailSize = 50

interface Trail<T> {
  /** The start of the present page. */
  readonly before: T | undefined
  readonly isFirst: boolean
  /** @param next - The start of the next page; null: there is none. */
  pager(
    rows: readonly { readonly time: string }[],
    next: T | null,
    loading: boolean,
  ): ComponentChildren
}

/** Pages of a list, newest first, each of which tells the start of the next. */
export function useTrail<T>(label: string): Trail<T> {
  /** The starts of the pages shown so far, the newest page first. */
  const [trail, setTrail] = useState<readonly (T | undefined)[]>([undefined])
  const isFirst = trail.length === 1
  return {
    ...{ before: trail.at(-1), isFirst },
    pager: ([newest], next, loading) =>
      (!isFirst || next !== null) && (
        <Pager
          label={label}
          text={`Page ${trail.length}${newest ? `, to ${dateTime(newest.time)} UTC` : ''}`}
          steps={[
            ['Newer', isFirst || loading ? undefined : () => setTrail(trail.slice(0, -1))],
            ['Older', next === null || loading ? undefined : () => setTrail([...trail, next])],
          ]}
        />
      ),
  }
}
