/**
 * A runner: the process in which one model runs, and ends if it must. Started by a front, which
 * speaks with it over file descriptor 3; it ends when that is closed.
 *
 * @module
 */

import { serve } from './serve.js'

/** A terminal sends these to all processes of a group: it is the front that says when to end. */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

try {
  await serve(3, process.env['OI_TEST_RUNNER_ABORT'] ?? '')
  process.exit(0)
} catch (error) {
  process.stderr.write(`oi runner: ${(error as Error).message}\n`)
  process.exit(1)
}
