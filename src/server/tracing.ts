/**
 * The traces of a server, if the settings enable them.
 *
 * @module
 */

import type { Config } from '../config.js'
import { Exporter } from '../trace/exporter.js'
import { Tracer } from '../trace/tracer.js'

export interface Tracing {
  readonly tracer: Tracer
  readonly exporter: Exporter
}

/** @param notice - Takes a sentence for the operator. */
export function createTracing(config: Config, notice: (text: string) => void): Tracing | undefined {
  const { otlpEndpoint: endpoint, otlpHeaders: headers, otlpSamplePercent: samplePercent } = config
  if (endpoint === '') return undefined
  const exporter = new Exporter({ endpoint, headers, notice })
  const tracer = new Tracer({ add: (span) => exporter.add(span), samplePercent })
  return { tracer, exporter }
}
