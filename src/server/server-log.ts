/**
 * All output of a server: the lines of its start, requests, faults, and Node's own warnings. None
 * of it can end, block or slow the server (log-output.ts).
 *
 * @module
 */

import { isatty } from 'node:tty'
import type { Config } from '../config.js'
import { createLogger, type Logger } from '../http/log/logger.js'
import { LogOutput } from './log-output.js'
import { logText } from './log-text.js'

/** How long the end of the process waits for the reader, milliseconds. */
const flushMs = 1000

type LogConfig = Pick<Config, 'log' | 'logLevel' | 'logFormat'>

export class ServerLog {
  readonly logger: Logger
  readonly #output = new LogOutput(1)
  readonly #errors: LogOutput
  /** Whether start lines are JSON too. */
  readonly #onlyJson: boolean
  readonly #dispose: () => void

  constructor(config: LogConfig) {
    const { logFormat } = config
    const asText = logFormat === 'text' || (logFormat === 'auto' && isatty(2))
    const colour = isatty(2) && !process.env['NO_COLOR']
    const format = (line: string) => (asText ? logText(line, colour) : line)
    this.#onlyJson = logFormat === 'json'
    this.#errors = new LogOutput(2, { notice: (words) => format(lossLine(words)).trimEnd() })
    this.logger = createLogger(
      settingsOf(config),
      (line) => this.#errors.write(format(line)),
      () => this.#output.lostLines + this.#errors.lostLines,
    )
    this.#dispose = this.#takeOver()
  }

  /** Applies other settings from the next line on; the format stays. */
  adjust(config: LogConfig): void {
    this.logger.adjust(settingsOf(config))
  }

  /** Reports the progress of the start, on standard output. @param text - Whole lines. */
  say(text: string): void {
    if (!this.#onlyJson) this.#output.write(text)
    else for (const line of linesOf(text)) this.logger.notice(line)
  }

  /** Writes text that is not part of the log to standard output. @param text - Whole lines. */
  show(text: string): void {
    this.#output.write(text)
  }

  /** Reports events, on standard error. @param text - Whole lines. */
  tell(text: string): void {
    if (!this.#onlyJson) this.#errors.write(text)
    else for (const line of linesOf(text)) this.logger.notice(line)
  }

  /** Waits a moment until everything is written, and restores Node's own handling of errors. */
  async close(): Promise<void> {
    await Promise.all([this.#output.flush(flushMs), this.#errors.flush(flushMs)])
    this.#dispose()
  }

  /**
   * An uncaught error ends one callback, not the server: its request is answered at the deadline
   * and costs nothing, and all other requests go on. It is logged and counted as a fault.
   */
  #takeOver(): () => void {
    const listeners = {
      uncaughtException: (error: unknown) => this.logger.fault('process', error),
      unhandledRejection: (error: unknown) => this.logger.fault('process', error),
      warning: ({ name, message }: Error) => this.logger.warn(`${name}: ${message}`),
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

const settingsOf = ({ log, logLevel }: LogConfig) => ({
  requests: log === 'requests',
  level: logLevel,
})

const linesOf = (text: string) => text.split('\n').filter((line) => line.trim() !== '')

/**
 * A line like the logger's, which is bypassed: it reports lost lines once lines can be written
 * again.
 */
function lossLine(words: string): string {
  return JSON.stringify({ level: 'warn', time: new Date().toISOString(), warning: words })
}
