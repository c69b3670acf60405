/**
 * `GET /metrics` in Prometheus' text format. All values are read at the scrape, from the traffic,
 * the engines and the process.
 *
 * @module
 */

import type { EngineReport } from '../../decide/types.js'
import type { RunnerReport } from '../../runner/supervision.js'
import type { StoreFigures } from '../access/admission.js'
import type { Logger } from '../log/logger.js'
import { engineMetrics } from './engine-metrics.js'
import {
  exposition,
  expositionType,
  type Labels,
  type Metric,
  numberText,
  type Sample,
} from './exposition.js'
import { counter, gauge, type MetricRow, samplesOf } from './metric-row.js'
import {
  buildInfo,
  type Machine,
  type MachineFigures,
  processMetrics,
  readMachine,
} from './process-metrics.js'
import { pickerLabels, pickerMetrics } from './picker-metrics.js'
import { measure, type MeasuredRunner, runnerMetrics } from './runner-metrics.js'
import type { Traffic } from './traffic.js'
import type { Content } from '../contract.js'

interface MetricsSources {
  readonly traffic: Traffic
  readonly logger: Pick<Logger, 'faults' | 'lostLines'>
  /** Requests for decisions under way. */
  readonly running: () => number
  /** Requests and items of batches that wait for a place. */
  readonly waiting: () => number
  /** Whether limits are kept with other nodes now; undefined: they never are. */
  readonly shared: () => boolean | undefined
  readonly engines: () => readonly EngineReport[]
  readonly runners: () => readonly RunnerReport[]
  /** Undefined if nothing is booked. */
  readonly store: () => StoreFigures | undefined
  /** Whether `/readyz` reports ready. */
  readonly ready: () => boolean
  readonly machine: Machine
  /** Undefined if nothing is traced. */
  readonly spans: () => SpanFigures | undefined
}

/** Figures of the spans for a trace collector. */
export interface SpanFigures {
  readonly sent: number
  readonly lost: number
}

/** Metrics of the accounts' file and its writer. */
const storeMetrics: readonly MetricRow<StoreFigures>[] = [
  gauge('pending_bookings', 'Answers whose usage is not in the file yet', 'pendingAnswers'),
  counter('failed_writes_total', 'Tries to write usage that failed', 'failedWrites'),
  counter(
    'set_aside_bookings_total',
    'Bookings that could not be made and are in the table set_aside of accounts.db',
    'setAside',
  ),
  gauge('failing', '1 while usage cannot be written', ({ failing }) => Number(failing)),
  gauge('file_bytes', 'Size of accounts.db when it was last written to', 'fileBytes'),
  gauge('wal_bytes', 'Size of the log accounts.db-wal at that time', 'walBytes'),
]

export class Metrics {
  /** In the order of the output. */
  readonly #metrics: Metric[] = []
  readonly #sources: MetricsSources
  /** The reports of one scrape, read once for all metrics of engines and processes. */
  #reports: readonly EngineReport[] = []
  #runners: readonly MeasuredRunner[] = []
  #machine: MachineFigures | undefined

  constructor(sources: MetricsSources) {
    this.#sources = sources
    this.#addTraffic()
    this.#addRows('oi_engine_', engineMetrics, () =>
      this.#reports.map((report) => [whoseOf(report), report.stats]),
    )
    this.#addRows('', pickerMetrics, () => {
      const engines = this.#reports.map((report) => report.stats)
      return [[pickerLabels(this.#reports), { engines, waiting: sources.waiting() }]]
    })
    this.#addRows('', runnerMetrics, () =>
      this.#runners.map((runner) => [whoseOf(runner.report), runner]),
    )
    this.#addRows('oi_accounts_', storeMetrics, () => alone(sources.store()))
    this.#addRows('', processMetrics, () => alone(this.#machine))
    const spans = 'Spans of traces, by outcome'
    this.#add('counter', 'oi_trace_spans_total', spans, () => {
      const { sent, lost } = sources.spans() ?? {}
      if (sent === undefined || lost === undefined) return []
      return Object.entries({ sent, lost }).map(([outcome, count]) => [{ outcome }, count])
    })
    const { name, help, labels } = buildInfo
    this.#add('gauge', name, help, () => [[labels, 1]])
  }

  async content(): Promise<Content> {
    this.#machine = await readMachine(this.#sources.machine)
    this.#reports = this.#sources.engines()
    this.#runners = this.#sources.runners().map(measure)
    return { status: 200, body: exposition(this.#metrics), type: expositionType }
  }

  #addTraffic(): void {
    const { traffic, running, waiting, ready } = this.#sources
    const requests = 'Requests that ended, by route and status; 0: the client had gone'
    this.#add('counter', 'oi_http_requests_total', requests, () =>
      traffic.requests().map(({ count, ...labels }) => [labels, count]),
    )
    const items = 'Items of batches with a result, by status'
    this.#add('counter', 'oi_http_batch_items_total', items, () =>
      traffic.items().map(({ count, ...labels }) => [labels, count]),
    )
    const refusals = 'Refused requests to /v1 and items of batches, by the code of the error'
    this.#add('counter', 'oi_http_refusals_total', refusals, () =>
      traffic.refusals().map(({ count, code }) => [{ code }, count]),
    )
    this.#addOne('gauge', 'oi_http_requests_running', 'Decisions under way', running)
    const places = 'Requests and items that wait for one of the concurrent places'
    this.#addOne('gauge', 'oi_http_requests_waiting', places, waiting)
    const shared = '1 while limits are kept with other nodes, 0 while this node keeps them alone'
    this.#add('gauge', 'oi_limits_shared', shared, () => {
      const now = this.#sources.shared()
      return now === undefined ? [] : [[{}, Number(now)]]
    })
    this.#addOne('gauge', 'oi_ready', '1 while /readyz reports ready', () => Number(ready()))
    const phases = 'Time of answered decisions and items, by phase'
    this.#add('counter', 'oi_http_phase_seconds_total', phases, () =>
      Object.entries(traffic.phases()).map(([phase, ms]) => [{ phase }, ms / 1000]),
    )
    const { logger } = this.#sources
    const faults = 'Faults of the server; each is in its log'
    this.#addOne('counter', 'oi_faults_total', faults, () => logger.faults)
    const lost = 'Lines of standard output and error that could not be written'
    this.#addOne('counter', 'oi_log_lines_lost_total', lost, () => logger.lostLines)

    const durations =
      'Time from the head of a request for decisions to its answer, answered requests only'
    this.#add('histogram', 'oi_http_request_duration_seconds', durations, () => {
      const { buckets, sum, count } = traffic.durations()
      return [
        ...buckets.map(({ le, count }): Sample => [{ le: numberText(le) }, count, '_bucket']),
        [{}, sum, '_sum'],
        [{}, count, '_count'],
      ]
    })
  }

  #addRows<Source>(
    prefix: string,
    rows: readonly MetricRow<Source>[],
    sources: () => readonly (readonly [Labels, Source])[],
  ): void {
    for (const row of rows) {
      this.#add(row.kind, `${prefix}${row.name}`, row.help, () =>
        sources().flatMap(([whose, source]) => samplesOf(row, whose, source)),
      )
    }
  }

  #addOne(kind: Metric['kind'], name: string, help: string, read: () => number): void {
    this.#add(kind, name, help, () => [[{}, read()]])
  }

  #add(kind: Metric['kind'], name: string, help: string, read: Metric['read']): void {
    this.#metrics.push({ kind, name, help, read })
  }
}

const whoseOf = ({ model, replica }: Pick<EngineReport, 'model' | 'replica'>): Labels => ({
  model,
  ...(replica !== undefined && { replica }),
})

/** A source that is the only one of its kind, if it is there. */
function alone<Source>(source: Source | undefined): readonly (readonly [Labels, Source])[] {
  return source === undefined ? [] : [[{}, source]]
}
