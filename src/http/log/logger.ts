/**
 * What the server says about itself: a line of JSON for each request if wanted, for each fault, and
 * for what an operator should know.
 *
 * Rules
 *   1. No body, no question and no answer is ever a part of a line.
 *   2. Nor is a key: wherever a caller put one (a path, an id of a request, the text of a fault), it
 *      is taken out.
 *   3. Where a line goes is for whoever makes the logger: what it is given neither throws nor waits.
 *
 * @module
 */

import type * as Pino from 'pino'
import { serverPackage } from '../../server-package.js'

/** Names and units are those of the lines. */
export interface RequestEntry {
  readonly id: string
  readonly method: string
  readonly path: string
  /** 0 if the client had gone before it was answered. */
  readonly status: number
  /** From its head to its answer. */
  readonly ms: number
  readonly workspace?: string
  /** The id of its key. */
  readonly key?: number
  /** The interface's code of what was wrong. */
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
  /** Its trace, if it has one. */
  readonly trace?: string
}

export type LogLevel = 'info' | 'warn' | 'error'

export interface LogSettings {
  /** Whether each request has a line. */
  readonly requests: boolean
  /** What is less important has none. Default `info`. */
  readonly level?: LogLevel
}

export interface Logger {
  /** Undefined when requests are not logged, so that nobody builds entries for nothing. */
  readonly request: ((entry: RequestEntry) => void) | undefined
  /**
   * A fault of the server.
   *
   * @param id - Of the request that met it, or `process` if none did.
   * @param digest - Of that one's body.
   */
  fault(id: string, error: unknown, digest?: string): void
  /** What the operator should know, in a sentence. */
  notice(text: string): void
  /** What the operator should do something about, in a sentence. */
  warn(text: string): void
  /** Goes by other settings from the next line on. */
  adjust(settings: LogSettings): void
  /** Faults so far. */
  readonly faults: number
  /** Lines that could not be written so far. */
  readonly lostLines: number
}

/** A path says nothing beyond it. */
const longestPath = 200

/**
 * @param write - Takes one line, its line break included. Never throws, never waits.
 * @param lostLines - How many of them could not be written so far.
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

/** A refusal is the caller's business, a fault the server's. */
function levelOf(status: number): LogLevel {
  if (status === 500) return 'error'
  return status > 500 ? 'warn' : 'info'
}

/** Rule 2. */
function withoutKeys(line: string): string {
  return line.includes('oi-') ? line.replaceAll(/oi-[\w-]{43}/g, 'oi-…') : line
}

/** Also of what cannot be shown: a fault must not be lost for its text. */
function textOf(error: unknown): string {
  try {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  } catch {
    return 'an error without a text'
  }
}
