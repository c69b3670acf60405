/**
 * Metrics in Prometheus' text format, version 0.0.4.
 *
 * @module
 */

export interface Metric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** Read at each scrape; no sample is no error. */
  readonly read: () => readonly Sample[]
}

export type Labels = Readonly<Record<string, string | number>>

/** @see {@link Metric}. The third element is a histogram part's suffix to the name: `_sum`. */
export type Sample = readonly [labels: Labels, value: number, suffix?: string]

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'

export function exposition(metrics: readonly Metric[]): string {
  return `${metrics.map(textOf).join('\n\n')}\n`
}

function textOf({ name, help, kind, read }: Metric): string {
  // Prometheus refuses a whole scrape that repeats a sample: equal ones are added up.
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

/** A number in the format's notation, also for a bucket's bound. */
export function numberText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}
