/**
 * What `GET /metrics` says about the models' processes; nothing where models run in the server's.
 *
 * @module
 */

import type { RunnerReport } from '../../runner/supervision.js'

/** A model's process, and what the system says about it, asked once a scrape. */
export interface MeasuredRunner {
  readonly report: RunnerReport
  readonly usage: ReturnType<RunnerReport['usage']>
}

export const measure = (report: RunnerReport): MeasuredRunner => ({
  report,
  usage: report.usage(),
})

export interface RunnerMetric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** The label besides `model` that tells several numbers apart. */
  readonly label?: string
  /** One number, one for each value of the label, or none. */
  readonly read: (runner: MeasuredRunner) => number | Readonly<Record<string, number>> | undefined
}

export const runnerMetrics: readonly RunnerMetric[] = [
  {
    name: 'oi_runner_up',
    help: '1 if the model has a process that can answer',
    kind: 'gauge',
    read: ({ report }) => Number(report.ready),
  },
  {
    name: 'oi_runner_ends_total',
    help: 'Ends of its processes that nobody asked for, by cause: a signal, an exit code, or why it was ended',
    kind: 'counter',
    label: 'cause',
    read: ({ report }) => report.ends,
  },
  {
    name: 'oi_runner_restarts_total',
    help: 'Processes that came after one that had ended',
    kind: 'counter',
    read: ({ report }) => report.restarts,
  },
  {
    name: 'oi_requests_asked_again_total',
    help: 'Calls that were inside at an end, and were made again of the next process',
    kind: 'counter',
    read: ({ report }) => report.askedAgain,
  },
  {
    name: 'oi_requests_given_up_total',
    help: 'Calls that were inside at two ends, and were answered 500',
    kind: 'counter',
    read: ({ report }) => report.gaveUp,
  },
  {
    name: 'oi_runner_resident_memory_bytes',
    help: 'Memory of its process',
    kind: 'gauge',
    read: ({ usage }) => usage?.residentBytes,
  },
  {
    name: 'oi_runner_cpu_seconds_total',
    help: 'CPU time of all threads of its process',
    kind: 'counter',
    read: ({ usage }) => usage && usage.cpuMs / 1000,
  },
]
