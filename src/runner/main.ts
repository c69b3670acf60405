/**
 * A runner: the process in which one model runs, and may crash. A front starts it and speaks with
 * it over file descriptor 3; it ends when that is closed.
 *
 * @module
 */

import { serve } from './serve.js'

/** A terminal sends these to all processes of a group; only the front may end a runner. */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

/** A step may be slow because a driver compiles, or memory is short. */
const leastStepMs = 60_000

try {
  const { OI_TEST_RUNNER_ABORT: fatal = '', OI_TEST_RUNNER_STEP_MS: stepMs } = process.env
  await serve(3, fatal, Number(stepMs ?? leastStepMs))
  process.exit(0)
} catch (error) {
  process.stderr.write(`oi runner: ${(error as Error).message}\n`)
  process.exit(1)
}
