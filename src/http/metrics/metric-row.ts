/**
 * Metrics of one kind of source, such as engines, as rows of a table.
 *
 * @module
 */

import type { Labels, Sample } from './exposition.js'

export interface MetricRow<Source> {
  readonly kind: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  /** One number, one per value of the label, or none. */
  readonly read: (source: Source) => number | Readonly<Record<string, number>> | undefined
  /** A label, besides those of the source, that distinguishes several numbers. */
  readonly label: string | undefined
}

/** The numbers of a source, by name. */
type NumberIn<Source> = {
  [Name in keyof Source]: Source[Name] extends number | undefined ? Name : never
}[keyof Source]

/** @param of - The name of the number in its source, or what reads it. */
const row =
  (kind: MetricRow<never>['kind']) =>
  <Source>(
    name: string,
    help: string,
    of: NumberIn<Source> | MetricRow<Source>['read'],
    label?: string,
  ): MetricRow<Source> => {
    const read = typeof of === 'function' ? of : (source: Source) => source[of] as number
    return { kind, name, help, read, label }
  }

export const counter = row('counter')
export const gauge = row('gauge')

/** @param whose - The labels of the source. */
export function samplesOf<Source>(
  { read, label }: MetricRow<Source>,
  whose: Labels,
  source: Source,
): Sample[] {
  const values = read(source)
  if (values === undefined) return []
  if (typeof values === 'number') return [[whose, values]]
  return Object.entries(values).map(([key, value]) => [{ ...whose, [label!]: key }, value])
}
