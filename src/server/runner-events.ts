/**
 * Handles the ends of model processes: a crash report, and lines in the log.
 *
 * @module
 */

import type { CrashReports } from '../runner/crash-report.js'
import type { SupervisorEvents } from '../runner/supervision.js'
import type { ServerLog } from './server-log.js'

/** @param model - Its name. */
export function runnerEvents(
  model: string,
  reports: CrashReports,
  log: ServerLog,
): SupervisorEvents {
  const { logger } = log
  const whole = (ms: number) => `${Math.round(ms)} ms`
  return {
    ended: (end, inside) => {
      const again = inside.filter(({ ends }) => ends === 0).length
      const what = `The process of model ${model} ended (${end.cause}); retried requests: ${again}`
      reports.write({ model, end, inside }).then(
        (path) => logger.warn(`${what}; crash report: ${path}`),
        (error: Error) => logger.warn(`${what}; no crash report: ${error.message}`),
      )
    },
    replaced: (loadMs, pid) =>
      logger.notice(`Model ${model} is back, process ${pid}, loaded in ${whole(loadMs)}`),
    failed: (error, pauseMs) =>
      logger.warn(
        `Model ${model} could not be loaded again: ${(error as Error).message}; ` +
          `next attempt in ${whole(pauseMs)}`,
      ),
    // Else only crash reports have the output.
    ...(process.env['OI_NATIVE_LOG'] !== undefined && {
      said: (text: string) => log.tell(text),
    }),
  }
}
