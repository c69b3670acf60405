/**
 * What stands beside a chart: the values under the pointer, and the legend of colours.
 *
 * @module
 */

/** The colour of a series, for the classes that draw it. @param rank - 0 to 5. */
export const seriesColour = (rank: number) => ({ '--series': `var(--series-${rank})` })

interface TipProps {
  /** Where it points to, and the width of the chart. */
  readonly left: number
  readonly width: number
  readonly title: string
  readonly rows: readonly { key: string; name: string; rank: number; text: string }[]
  /** The sum of the rows; undefined: they are no parts of one. */
  readonly total?: string
  /** Shown without rows. */
  readonly none: string
}

export function Tip({ left, width, title, rows, total, none }: TipProps) {
  const side = left > width / 2 ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }
  return (
    <div class="tip" style={side} aria-hidden="true">
      <p class="tip-title">{title}</p>
      {rows.map(({ key, name, rank, text }) => (
        <p key={key} class="tip-row">
          <span class="swatch" style={seriesColour(rank)} />
          <span class="tip-name">{name}</span>
          <span>{text}</span>
        </p>
      ))}
      {rows.length === 0 && <p class="tip-row">{none}</p>}
      {total !== undefined && rows.length > 0 && (
        <p class="tip-row tip-total">
          <span class="tip-name">Total</span>
          <span>{total}</span>
        </p>
      )}
    </div>
  )
}

interface LegendEntry {
  readonly key: string
  readonly name: string
  /** Its value. */
  readonly text: string
  /** Its colour. Default: its place. */
  readonly rank?: number
}

/** The legend of colours. */
export function Legend({ of }: { readonly of: readonly LegendEntry[] }) {
  return (
    <ul class="legend">
      {of.map(({ key, name, text, rank }, i) => (
        <li key={key}>
          <span class="swatch" style={seriesColour(rank ?? i)} aria-hidden="true" />
          <span class="legend-name">{name}</span> <span class="faint">{text}</span>
        </li>
      ))}
    </ul>
  )
}
