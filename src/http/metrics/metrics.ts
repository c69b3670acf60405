/**
 * `GET /metrics` in Prometheus' text format. All values are read at the scrape, from the traffic,
 * the engines and the process.
 *
 * @module
 */

import type { EngineReport } from '../../decide/types.js'
import type { RunnerReport } from '../../runner/supervision.js'
import type { StoreFigures } from '../access/gate.js'
import type { Logger } from '../log/logger.js'
import type { Content } from '../reply/reply.js'
import { engineMetrics } from './engine-metrics.js'
import { exposition, expositionType, type Metric, numberText, type Sample } from './exposition.js'
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
    help: 'Bookings that could not be made and are in the table set_aside of accounts.db',
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
    help: 'Size of the log accounts.db-wal at that time',
    kind: 'gauge',
    read: ({ walBytes }) => walBytes,
  },
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
    for (const { name, help, kind, label, read } of engineMetrics) {
      this.#add(kind, `oi_engine_${name}`, help, () =>
        this.#reports.flatMap((report) => samplesOf(report, label, read(report.stats))),
      )
    }
    for (const { name, help, read } of pickerMetrics) {
      this.#add('gauge', name, help, () => {
        const stats = this.#reports.map((report) => report.stats)
        return [[pickerLabels(this.#reports), read(stats, sources.waiting())]]
      })
    }
    for (const { name, help, kind, label, read } of runnerMetrics) {
      this.#add(kind, name, help, () =>
        this.#runners.flatMap((runner) => samplesOf(runner.report, label, read(runner))),
      )
    }
    for (const { name, help, kind, read } of storeMetrics) {
      this.#add(kind, `oi_accounts_${name}`, help, () => {
        const figures = sources.store()
        return figures === undefined ? [] : [[{}, read(figures)]]
      })
    }
    for (const { name, help, kind, read } of processMetrics) {
      this.#add(kind, name, help, () => {
        const value = this.#machine && read(this.#machine)
        return value === undefined ? [] : [[{}, value]]
      })
    }
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

  #addOne(kind: Metric['kind'], name: string, help: string, read: () => number): void {
    this.#add(kind, name, help, () => [[{}, read()]])
  }

  #add(kind: Metric['kind'], name: string, help: string, read: Metric['read']): void {
    this.#metrics.push({ kind, name, help, read })
  }
}

function samplesOf(
  { model, replica }: Pick<EngineReport, 'model' | 'replica'>,
  label: string | undefined,
  values: number | Readonly<Record<string, number>> | undefined,
): Sample[] {
  if (values === undefined) return []
  const whose = { model, ...(replica !== undefined && { replica }) }
  if (typeof values === 'number') return [[whose, values]]
  return Object.entries(values).map(([key, value]) => [{ ...whose, [label!]: key }, value])
}
