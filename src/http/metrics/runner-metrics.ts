/**
 * The metrics of the models' processes; none if models run in the server's process.
 *
 * @module
 */

import type { RunnerReport } from '../../runner/supervision.js'
import { counter, gauge, type MetricRow } from './metric-row.js'

/** A model's process, and the system's figures about it, read once per scrape. */
export interface MeasuredRunner {
  readonly report: RunnerReport
  readonly usage: ReturnType<RunnerReport['usage']>
}

export const measure = (report: RunnerReport): MeasuredRunner => ({
  report,
  usage: report.usage(),
})

export const runnerMetrics: readonly MetricRow<MeasuredRunner>[] = [
  gauge('oi_runner_up', '1 if the model has a process that can answer', ({ report }) =>
    Number(report.ready),
  ),
  counter(
    'oi_runner_ends_total',
    'Unexpected ends of its processes, by cause: a signal, an exit code, or why it was killed',
    ({ report }) => report.ends,
    'cause',
  ),
  counter(
    'oi_runner_restarts_total',
    'Processes started to replace one that had ended',
    ({ report }) => report.restarts,
  ),
  counter(
    'oi_requests_asked_again_total',
    'Calls under way at an end that were repeated in the next process',
    ({ report }) => report.askedAgain,
  ),
  counter(
    'oi_requests_given_up_total',
    'Calls under way at two ends that were answered 500',
    ({ report }) => report.gaveUp,
  ),
  gauge(
    'oi_runner_resident_memory_bytes',
    'Memory of its process',
    ({ usage }) => usage?.residentBytes,
  ),
  counter(
    'oi_runner_cpu_seconds_total',
    'CPU time of all threads of its process',
    ({ usage }) => usage && usage.cpuMs / 1000,
  ),
]
