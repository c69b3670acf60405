/**
 * The server's log: a JSON line per request if wanted, per fault, and per notice to the operator.
 *
 *   1. No body, no question and no answer is ever a part of a line.
 *   2. No line contains a key: wherever a caller put one (a path, a request id, the text of a
 *      fault), it is removed.
 *   3. The maker of the logger decides where lines go: its function neither throws nor waits.
 *
 * @module
 */

import type * as Pino from 'pino'
import { serverPackage } from '../../server-package.js'

/** Names and units are those in the lines. */
export interface RequestEntry {
  readonly id: string
  readonly method: string
  readonly path: string
  /** 0 if the client had gone before the reply. */
  readonly status: number
  /** From the request's head to its reply. */
  readonly ms: number
  readonly workspace?: string
  /** The id of its key. */
  readonly key?: number
  /** The error's code on the wire. */
  readonly error?: string
  readonly model?: string | undefined
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly cached_tokens?: number
  readonly image_tokens?: number
  readonly queue_ms?: number
  readonly tokenize_ms?: number
  readonly vision_ms?: number
  readonly model_ms?: number
  /** The request's trace id, if any. */
  readonly trace?: string
}

type LogLevel = 'info' | 'warn' | 'error'

export interface LogSettings {
  /** Whether each request has a line. */
  readonly requests: boolean
  /** Less important lines are left out. Default `info`. */
  readonly level?: LogLevel
}

export interface Logger {
  /** Undefined if requests are not logged, so that no entries are built in vain. */
  readonly request: ((entry: RequestEntry) => void) | undefined
  /**
   * A fault of the server.
   *
   * @param id - Of the request that failed, or `process` if there is none.
   * @param digest - Of that request's body.
   */
  fault(id: string, error: unknown, digest?: string): void
  /** A fact the operator should know, as a sentence. */
  notice(text: string): void
  /** A problem the operator should solve, as a sentence. */
  warn(text: string): void
  /** Applies other settings from the next line on. */
  adjust(settings: LogSettings): void
  /** The number of faults so far. */
  readonly faults: number
  /** The number of lines that could not be written. */
  readonly lostLines: number
}

/** The longest part of a path that is logged. */
const longestPath = 200

/**
 * @param write - Takes one line, its line break included. Never throws, never waits.
 * @param lostLines - The number of lines that could not be written so far.
 * @throws {@link OiError} `ERR_PACKAGE_NOT_FOUND` if pino is not installed.
 */
export function createLogger(
  settings: LogSettings,
  write: (line: string) => void,
  lostLines: () => number = () => 0,
): Logger {
  const { pino } = serverPackage<typeof Pino>('pino', 'the log')
  const log = pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    { write: (line: string) => write(withoutKeys(line)) },
  )
  const logRequest = (entry: RequestEntry) => {
    const { path, status } = entry
    const shown = path.length > longestPath ? `${path.slice(0, longestPath)}…` : path
    log[levelOf(status)]({ ...entry, path: shown })
  }
  let faults = 0
  let request: Logger['request']
  const logger: Logger = {
    get request() {
      return request
    },
    notice: (text) => log.info({ notice: text }),
    warn: (text) => log.warn({ warning: text }),
    fault: (id, error, digest) => {
      faults++
      log.error({ id, fault: textOf(error), digest })
    },
    adjust: ({ requests, level = 'info' }) => {
      log.level = level
      request = requests ? logRequest : undefined
    },
    get faults() {
      return faults
    },
    get lostLines() {
      return lostLines()
    },
  }
  logger.adjust(settings)
  return logger
}

/** A refusal is the caller's error, a fault is the server's. */
function levelOf(status: number): LogLevel {
  if (status === 500) return 'error'
  return status > 500 ? 'warn' : 'info'
}

/** Rule 2. */
function withoutKeys(line: string): string {
  return line.includes('oi-') ? line.replaceAll(/oi-[\w-]{43}/g, 'oi-…') : line
}

/** Also for values that cannot be printed: a fault must not be lost because of its text. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return 'an error without a text'
  }
}
