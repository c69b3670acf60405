/**
 * Navigation between the pages of a list.
 *
 * @module
 */

export interface Step {
  readonly name: string
  /** Undefined: there is no such page. */
  readonly go: (() => void) | undefined
}

interface PagerProps {
  /** What the pages list. */
  readonly label: string
  /** The present page, in words. */
  readonly text: string
  readonly steps: readonly [Step, Step]
}

export function Pager({ label, text, steps }: PagerProps) {
  return (
    <nav class="pager" aria-label={`Pages of ${label}`}>
      <span>{text}</span>
      {steps.map(({ name, go }) => (
        <button
          key={name}
          type="button"
          class="button"
          aria-disabled={go === undefined}
          onClick={go}
        >
          {name}
        </button>
      ))}
    </nav>
  )
}

/** For a list of known length. */
export function numberedSteps(
  page: number,
  pages: number,
  onPage: (page: number) => void,
): PagerProps['steps'] {
  return [
    { name: 'Previous', go: page === 0 ? undefined : () => onPage(page - 1) },
    { name: 'Next', go: page >= pages - 1 ? undefined : () => onPage(page + 1) },
  ]
}

/**
 * For a list, newest first, that tells the start of its next page.
 *
 * @param trail - The starts of the pages shown so far.
 */
export function trailSteps<T>(
  trail: readonly T[],
  next: T | null,
  loading: boolean,
  onTrail: (trail: readonly T[]) => void,
): PagerProps['steps'] {
  return [
    {
      name: 'Newer',
      go: trail.length === 1 || loading ? undefined : () => onTrail(trail.slice(0, -1)),
    },
    { name: 'Older', go: next === null || loading ? undefined : () => onTrail([...trail, next]) },
  ]
}
