/**
 * One attempt of a call: it ends when the caller aborts it, or when a step takes too long.
 *
 * @module
 */

import { OiRequestError } from './errors.js'

interface AttemptOptions {
  /** For messages. */
  readonly url: string
  readonly signal?: AbortSignal | undefined
  /** The limit for each step, milliseconds. */
  readonly timeoutMs: number
  readonly requestId?: string | undefined
}

export class Attempt {
  readonly #options: AttemptOptions
  readonly #controller = new AbortController()
  readonly #abort = () => this.#controller.abort()
  #late = false

  constructor(options: AttemptOptions) {
    this.#options = options
    options.signal?.addEventListener('abort', this.#abort)
    if (options.signal?.aborted) this.#abort()
  }

  /** For `fetch`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /**
   * Runs one step within the time limit, unless the attempt has been aborted.
   *
   * @throws {@link OiRequestError} The step's own error, or `request_aborted`, `request_timeout` or
   *   `connection_failed`.
   */
  async step<T>(run: () => Promise<T>): Promise<T> {
    if (this.signal.aborted) throw this.#explain(undefined)
    const timer = setTimeout(() => {
      this.#late = true
      this.#abort()
    }, this.#options.timeoutMs)
    try {
      return await run()
    } catch (cause) {
      throw cause instanceof OiRequestError ? cause : this.#explain(cause)
    } finally {
      clearTimeout(timer)
    }
  }

  /** Releases the caller's signal, and the connection if it is still busy. */
  end(): void {
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#abort()
  }

  #explain(cause: unknown): OiRequestError {
    const { url, signal, timeoutMs, requestId } = this.#options
    if (signal?.aborted) {
      const details = { requestId, cause: signal.reason as unknown }
      return new OiRequestError('request_aborted', 'The request was aborted', details)
    }
    if (this.#late) {
      const message = `No whole reply from ${url} within ${timeoutMs} ms`
      return new OiRequestError('request_timeout', message, { requestId, cause })
    }
    const message = `Cannot reach ${url}: ${reasonOf(cause)}`
    return new OiRequestError('connection_failed', message, { requestId, cause })
  }
}

/** Runtimes say "fetch failed" or the like; the reason, if any, is in the `cause`. */
function reasonOf(error: unknown): string {
  const { cause, message } = (error ?? {}) as Error & {
    cause?: { code?: string; message?: string }
  }
  return cause?.message || cause?.code || message || String(error)
}
