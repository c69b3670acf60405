/**
 * Retries: how often, and after how long.
 *
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { OiError } from '../../errors.js'
import { Transient } from './fetch.js'

/** Failures in a row, without a byte in between, that are retried. */
const maxFailures = 8
const maxWaitMs = 30_000

export interface Patience {
  /** The first wait, milliseconds; each further one is twice as long, up to half a minute. */
  readonly backoffMs: number
  readonly signal: AbortSignal | undefined
  /** Called with what failed, and when it is retried. */
  readonly onRetry: (text: string) => void
}

/**
 * Counts the failures of all connections for one file together: while one makes progress, none
 * gives up.
 */
export class Retries {
  readonly #patience: Patience
  #failures = 0

  constructor(patience: Patience) {
    this.#patience = patience
  }

  /** Bytes have arrived. */
  progress(): void {
    this.#failures = 0
  }

  /**
   * Waits until the next retry.
   *
   * @throws The error itself, if it is not transient; {@link OiError} `ERR_PULL` if there have been
   *   too many, `ERR_ABORTED` if the user cancels the pull.
   */
  async wait(error: unknown): Promise<void> {
    if (!(error instanceof Transient)) throw error
    const { backoffMs, signal, onRetry } = this.#patience
    this.#failures++
    if (this.#failures > maxFailures) {
      const message = `${error.message}; given up after ${maxFailures + 1} failures in a row`
      throw new OiError('ERR_PULL', message, { cause: error })
    }
    const doubled = Math.min(backoffMs * 2 ** (this.#failures - 1), maxWaitMs)
    // Spread, so that clients refused together do not come back together.
    const waitMs = Math.max(error.retryAfterMs ?? 0, doubled * (0.5 + Math.random()))
    onRetry(`${error.message}; trying again in ${(waitMs / 1000).toFixed(1)} s`)
    await sleep(waitMs, undefined, signal && { signal }).catch(() => {
      throw new OiError('ERR_ABORTED', 'The pull was cancelled')
    })
  }

  /** Tries until an attempt succeeds. */
  async run<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        await this.wait(error)
      }
    }
  }
}
