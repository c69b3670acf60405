/**
 * Everything that a server says: the lines of its start, requests, faults, and what Node itself
 * would write. None of it can end, hold or slow the server (output/log-output.ts).
 *
 * @module
 */

import { createLogger, type Logger } from '../http/logger.js'
import { LogOutput } from './output/log-output.js'

/** How long the end of the process waits for whoever reads, milliseconds. */
const flushMs = 1000

export class ServerLog {
  readonly logger: Logger
  readonly #output = new LogOutput(1)
  readonly #errors = new LogOutput(2, {
    notice: (words) => JSON.stringify({ time: new Date().toISOString(), warning: words }),
  })
  readonly #dispose: () => void

  /** @param requests - Whether each request has a line. */
  constructor(requests: boolean) {
    this.logger = createLogger(
      requests,
      (line) => this.#errors.write(line),
      () => this.#output.lostLines + this.#errors.lostLines,
    )
    this.#dispose = this.#takeOver()
  }

  /** Writes on standard output. @param text - Whole lines. */
  say(text: string): void {
    this.#output.write(text)
  }

  /** Writes on standard error. @param text - Whole lines. */
  warn(text: string): void {
    this.#errors.write(text)
  }

  /** Waits a moment until everything has left, and gives errors back their usual meaning. */
  async close(): Promise<void> {
    await Promise.all([this.#output.flush(flushMs), this.#errors.flush(flushMs)])
    this.#dispose()
  }

  /**
   * An error that nobody caught has ended one callback, not the server: whatever it belonged to
   * is answered by its deadline and charged nothing, and everybody else's requests go on. It is
   * logged and counted as a fault.
   */
  #takeOver(): () => void {
    const listeners = {
      uncaughtException: (error: unknown) => this.logger.fault('process', error),
      unhandledRejection: (error: unknown) => this.logger.fault('process', error),
      warning: ({ name, message }: Error) =>
        this.#errors.write(
          `${JSON.stringify({ time: new Date().toISOString(), warning: `${name}: ${message}` })}\n`,
        ),
    }
    // Node's own listener writes to standard error and waits.
    const usual = process.listeners('warning')
    process.removeAllListeners('warning')
    for (const [event, listener] of Object.entries(listeners)) process.on(event, listener)
    return () => {
      for (const [event, listener] of Object.entries(listeners)) process.off(event, listener)
      for (const listener of usual) process.on('warning', listener)
    }
  }
}
