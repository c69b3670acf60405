/**
 * The metrics of the models' processes; none if models run in the server's process.
 *
 * @module
 */

import type { RunnerReport } from '../../runner/supervision.js'

/** A model's process, and the system's figures about it, read once per scrape. */
export interface MeasuredRunner {
  readonly report: RunnerReport
  readonly usage: ReturnType<RunnerReport['usage']>
}

export const measure = (report: RunnerReport): MeasuredRunner => ({
  report,
  usage: report.usage(),
})

interface RunnerMetric {
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  /** A label, besides `model`, that distinguishes several numbers. */
  readonly label?: string
  /** One number, one per value of the label, or none. */
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
    help: 'Unexpected ends of its processes, by cause: a signal, an exit code, or why it was killed',
    kind: 'counter',
    label: 'cause',
    read: ({ report }) => report.ends,
  },
  {
    name: 'oi_runner_restarts_total',
    help: 'Processes started to replace one that had ended',
    kind: 'counter',
    read: ({ report }) => report.restarts,
  },
  {
    name: 'oi_requests_asked_again_total',
    help: 'Calls under way at an end that were repeated in the next process',
    kind: 'counter',
    read: ({ report }) => report.askedAgain,
  },
  {
    name: 'oi_requests_given_up_total',
    help: 'Calls under way at two ends that were answered 500',
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
