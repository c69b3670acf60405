/**
 * A runner: the process in which one model runs, and ends if it must. Started by a front, which
 * speaks with it over file descriptor 3; it ends when that is closed.
 *
 * @module
 */

import { Socket } from 'node:net'
import { serveFrames } from './serve-frames.js'

/** A terminal sends these to all processes of a group: it is the front that says when to end. */
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => {})

/** For tests: a request with this text in it ends the process as llama.cpp's own checks do. */
const fault = process.env['OI_TEST_RUNNER_ABORT']
const onRequest = fault
  ? (texts: string[]) => {
      if (texts.some((text) => text.includes(fault))) process.abort()
    }
  : undefined

try {
  await serveFrames(new Socket({ fd: 3 }), onRequest)
  process.exit(0)
} catch (error) {
  process.stderr.write(`oi runner: ${(error as Error).message}\n`)
  process.exit(1)
}
