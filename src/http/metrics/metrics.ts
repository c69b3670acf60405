/**
 * `GET /metrics` in Prometheus' text format. Everything is read when it is asked for: what the
 * traffic, the engines and the process say then replaces what they said before.
 *
 * prom-client's default metrics are not used: they watch every garbage collection, which cost a
 * busy server 2 percent of its CPU time.
 *
 * @module
 */

import type * as Prometheus from 'prom-client'
import type { EngineReport } from '../../decide/types.js'
import type { RunnerReport } from '../../runner/supervision.js'
import { serverPackage } from '../../server-package.js'
import { engineMetrics } from './engine-metrics.js'
import type { StoreFigures } from '../access/gate.js'
import type { Logger } from '../log/logger.js'
import {
  buildInfo,
  type Machine,
  type MachineFigures,
  processMetrics,
  readMachine,
} from './process-metrics.js'
import type { Content } from '../reply/reply.js'
import { measure, type MeasuredRunner, runnerMetrics } from './runner-metrics.js'
import type { Traffic } from './traffic.js'

export interface MetricsSources {
  readonly traffic: Traffic
  readonly logger: Pick<Logger, 'faults' | 'lostLines'>
  /** Requests for decisions under way. */
  readonly running: () => number
  /** Those of them, and items of batches, that wait for a place. */
  readonly waiting: () => number
  readonly engines: () => readonly EngineReport[]
  readonly runners: () => readonly RunnerReport[]
  /** Undefined where nothing is booked. */
  readonly store: () => StoreFigures | undefined
  /** Whether `/readyz` says so. */
  readonly ready: () => boolean
  readonly machine: Machine
  /** Undefined where nothing is traced. */
  readonly spans: () => SpanFigures | undefined
}

/** Of what is sent to a collector of traces. */
export interface SpanFigures {
  readonly sent: number
  readonly lost: number
}

/** Of the accounts' file and its writer. */
const storeMetrics: readonly {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  readonly read: (figures: StoreFigures) => number
}[] = [
  {
    name: 'pending_bookings',
    help: 'Answers whose usage is not in the file yet',
    kind: 'gauge',
    read: ({ pendingAnswers }) => pendingAnswers,
  },
  {
    name: 'failed_writes_total',
    help: 'Tries to write usage that failed',
    kind: 'counter',
    read: ({ failedWrites }) => failedWrites,
  },
  {
    name: 'set_aside_bookings_total',
    help: 'Bookings that could not be made, kept in the table set_aside of accounts.db',
    kind: 'counter',
    read: ({ setAside }) => setAside,
  },
  {
    name: 'failing',
    help: '1 while usage cannot be written',
    kind: 'gauge',
    read: ({ failing }) => Number(failing),
  },
  {
    name: 'file_bytes',
    help: 'Size of accounts.db when it was last written to',
    kind: 'gauge',
    read: ({ fileBytes }) => fileBytes,
  },
  {
    name: 'wal_bytes',
    help: 'Size of its log, accounts.db-wal, at that time',
    kind: 'gauge',
    read: ({ walBytes }) => walBytes,
  },
]

type Labels = Readonly<Record<string, string | number>>

export class Metrics {
  readonly #library = serverPackage<typeof Prometheus>('prom-client', 'the metrics')
  readonly #registry = new this.#library.Registry()
  readonly #sources: MetricsSources
  /** What all metrics of engines and their processes are read from, of one answer. */
  #reports: readonly EngineReport[] = []
  #runners: readonly MeasuredRunner[] = []
  #machine: MachineFigures | undefined

  constructor(sources: MetricsSources) {
    this.#sources = sources
    this.#addTraffic()
    for (const { name, help, kind, label, read } of engineMetrics) {
      this.#add(kind, `oi_engine_${name}`, help, labelsOf(label), () =>
        this.#reports.flatMap((report) => samplesOf(report, label, read(report.stats))),
      )
    }
    for (const { name, help, kind, label, read } of runnerMetrics) {
      this.#add(kind, name, help, labelsOf(label), () =>
        this.#runners.flatMap((runner) => samplesOf(runner.report, label, read(runner))),
      )
    }
    for (const { name, help, kind, read } of storeMetrics) {
      this.#add(kind, `oi_accounts_${name}`, help, [], () => {
        const figures = sources.store()
        return figures === undefined ? [] : [[{}, read(figures)]]
      })
    }
    for (const { name, help, kind, read } of processMetrics) {
      this.#add(kind, name, help, [], () => {
        const value = this.#machine && read(this.#machine)
        return value === undefined ? [] : [[{}, value]]
      })
    }
    const spans = 'Spans of traces, by what became of them'
    this.#add('counter', 'oi_trace_spans_total', spans, ['outcome'], () => {
      const { sent, lost } = sources.spans() ?? {}
      if (sent === undefined || lost === undefined) return []
      return Object.entries({ sent, lost }).map(([outcome, count]) => [{ outcome }, count])
    })
    const { name, help, labels } = buildInfo
    this.#add('gauge', name, help, Object.keys(labels), () => [[labels, 1]])
  }

  async content(): Promise<Content> {
    this.#machine = await readMachine(this.#sources.machine)
    this.#reports = this.#sources.engines()
    this.#runners = this.#sources.runners().map(measure)
    const body = await this.#registry.metrics()
    return { status: 200, body, type: this.#registry.contentType }
  }

  #addTraffic(): void {
    const { traffic, running, waiting, ready } = this.#sources
    const requests = 'Requests that ended, by route and status; 0: the client had gone'
    this.#add('counter', 'oi_http_requests_total', requests, ['route', 'status'], () =>
      traffic.requests().map(({ count, ...labels }) => [labels, count]),
    )
    const items = 'Items of batches that were given a result, by its status'
    this.#add('counter', 'oi_http_batch_items_total', items, ['status'], () =>
      traffic.items().map(({ count, ...labels }) => [labels, count]),
    )
    this.#addOne('gauge', 'oi_http_requests_running', 'Decisions under way', running)
    const places = 'Requests and items that wait for one of the concurrent places'
    this.#addOne('gauge', 'oi_http_requests_waiting', places, waiting)
    this.#addOne('gauge', 'oi_ready', '1 while /readyz says so', () => Number(ready()))
    const phases = 'Time of answered decisions and items, by what it went to'
    this.#add('counter', 'oi_http_phase_seconds_total', phases, ['phase'], () =>
      Object.entries(traffic.phases()).map(([phase, ms]) => [{ phase }, ms / 1000]),
    )
    const { logger } = this.#sources
    const faults = 'Faults of the server; its log tells each'
    this.#addOne('counter', 'oi_faults_total', faults, () => logger.faults)
    const lost = 'Lines of standard output and error that could not be written'
    this.#addOne('counter', 'oi_log_lines_lost_total', lost, () => logger.lostLines)

    const name = 'oi_http_request_duration_seconds'
    const histogram = {
      name,
      help: 'Time from the head of a request for decisions to its answer, of answered ones',
      type: 'histogram',
      get: () => {
        const { buckets, sum, count } = traffic.durations()
        const values = [
          ...buckets.map(({ le, count }) => ({
            metricName: `${name}_bucket`,
            labels: { le: le === Infinity ? '+Inf' : le },
            value: count,
          })),
          { metricName: `${name}_sum`, labels: {}, value: sum },
          { metricName: `${name}_count`, labels: {}, value: count },
        ]
        return { ...histogram, values }
      },
    }
    // Its own histograms can only be filled observation by observation.
    this.#registry.registerMetric(histogram as unknown as Prometheus.Histogram)
  }

  #addOne(kind: 'counter' | 'gauge', name: string, help: string, read: () => number): void {
    this.#add(kind, name, help, [], () => [[{}, read()]])
  }

  /** @param read - Every number, with its labels. */
  #add(
    kind: 'counter' | 'gauge',
    name: string,
    help: string,
    labelNames: string[],
    read: () => readonly (readonly [Labels, number])[],
  ): void {
    const { Counter, Gauge } = this.#library
    const Kind = kind === 'counter' ? Counter : Gauge
    new Kind({
      ...{ name, help, labelNames, registers: [this.#registry] },
      collect() {
        this.reset()
        const samples = read()
        // Without labels, there would be a 0 that nobody has counted.
        if (samples.length === 0 && labelNames.length === 0) this.remove()
        for (const [labels, value] of samples) this.inc(labels, value)
      },
    })
  }
}

const labelsOf = (label: string | undefined) => [
  ...['model', 'replica'],
  ...(label === undefined ? [] : [label]),
]

function samplesOf(
  { model, replica }: Pick<EngineReport, 'model' | 'replica'>,
  label: string | undefined,
  values: number | Readonly<Record<string, number>> | undefined,
): [Labels, number][] {
  if (values === undefined) return []
  const whose = { model, ...(replica !== undefined && { replica }) }
  if (typeof values === 'number') return [[whose, values]]
  return Object.entries(values).map(([key, value]) => [{ ...whose, [label!]: key }, value])
}
