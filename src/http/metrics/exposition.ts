/**
 * Metrics in Prometheus' text format, version 0.0.4.
 *
 * @module
 */

export interface Metric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** Read at each scrape; none is no fault. */
  readonly read: () => readonly Sample[]
}

export type Labels = Readonly<Record<string, string | number>>

/** @see {@link Metric}. The third is what a part of a histogram adds to the name: `_sum`. */
export type Sample = readonly [labels: Labels, value: number, suffix?: string]

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

export function exposition(metrics: readonly Metric[]): string {
  return `${metrics.map(textOf).join('\n\n')}\n`
}

function textOf({ name, help, kind, read }: Metric): string {
  // A scrape in which a sample stands twice is refused as a whole: equal ones are added up.
  const samples = new Map<string, number>()
  for (const [labels, value, suffix = ''] of read()) {
    const shown = Object.entries(labels).map(([label, text]) => {
      return `${label}="${escaped(String(text)).replaceAll('"', '\\"')}"`
    })
    const sample = `${name}${suffix}${shown.length === 0 ? '' : `{${shown.join(',')}}`}`
    samples.set(sample, (samples.get(sample) ?? 0) + value)
  }
  return [
    `# HELP ${name} ${escaped(help)}`,
    `# TYPE ${name} ${kind}`,
    ...[...samples].map(([sample, value]) => `${sample} ${numberText(value)}`),
  ].join('\n')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

/** A number as the format writes it, as the bound of a bucket too. */
export function numberText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}
