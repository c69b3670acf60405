/**
 * How the processes of one model stand.
 *
 * @module
 */

import type { SupervisedEngine } from './supervised-engine.js'
import type { RunnerReport } from './supervision.js'

/** @param model - Its name. @param runners - Of each of its replicas. */
export function runnerReports(
  model: string,
  runners: readonly SupervisedEngine[],
): readonly RunnerReport[] {
  const reports = runners.map((runner) => runner.report(model))
  return reports.length === 1 ? reports : reports.map((report, replica) => ({ ...report, replica }))
}
