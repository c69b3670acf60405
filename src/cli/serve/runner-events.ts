/**
 * What a server does with the ends of its models' processes: a crash report, and lines in its log.
 *
 * @module
 */

import type { CrashReports } from '../../runner/crash-report.js'
import type { SupervisorEvents } from '../../runner/supervision.js'
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
      const what = `The process of model ${model} ended (${end.cause}); asked again: ${again}`
      reports.write({ model, end, inside }).then(
        (path) => logger.warn(`${what}; crash report: ${path}`),
        (error: Error) => logger.warn(`${what}; no crash report: ${error.message}`),
      )
    },
    replaced: (loadMs, pid) =>
      logger.notice(`Model ${model} is there again, process ${pid}, loaded in ${whole(loadMs)}`),
    failed: (error, pauseMs) =>
      logger.warn(
        `Model ${model} could not be loaded again: ${(error as Error).message}; ` +
          `next try in ${whole(pauseMs)}`,
      ),
    // Else it is in the reports alone.
    ...(process.env['OI_NATIVE_LOG'] !== undefined && {
      said: (text: string) => log.tell(text),
    }),
  }
}
