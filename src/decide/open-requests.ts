/**
 * The requests of an open model that are under way, for its close.
 *
 * @module
 */

import { setMaxListeners } from 'node:events'
import type { Cancellation } from '../engine/types.js'
import { OiError } from '../errors.js'
import { Running } from '../running.js'

export class OpenRequests {
  readonly #running = new Running<void>()
  readonly #stop = new AbortController()
  readonly #graceMs: number
  #closing = false

  /** @param graceMs - How long a close waits for answers. */
  constructor(graceMs = 5000) {
    this.#graceMs = graceMs
    setMaxListeners(0, this.#stop.signal) // one of each request
  }

  /**
   * @param act - Gets a signal of the caller's own and of the close.
   * @throws {@link OiError} `ERR_ENGINE_CLOSED` after a close, or if it does not wait for this.
   */
  async run<T>(
    signal: Cancellation | undefined,
    act: (signal: Cancellation) => Promise<T>,
  ): Promise<T> {
    if (this.#closing) throw closed()
    const stop = this.#stop.signal
    const running = this.#running.add()
    try {
      return await act(signal === undefined ? stop : either(signal, stop))
    } catch (error) {
      if (stop.aborted && !signal?.aborted) throw closed()
      throw error
    } finally {
      running.leave()
    }
  }

  /** Refuses new requests, and waits for those under way, for a while; then it ends them. */
  async close(): Promise<void> {
    this.#closing = true
    await this.#running.drain(this.#graceMs)
    this.#stop.abort()
  }
}

function closed(): OiError {
  return new OiError('ERR_ENGINE_CLOSED', 'the engine is closed')
}

/** Aborted when one of them is. */
function either(a: Cancellation, b: Cancellation): Cancellation {
  return {
    get aborted() {
      return a.aborted || b.aborted
    },
    get reason() {
      return a.aborted ? a.reason : b.reason
    },
    addEventListener(type, listener, options) {
      for (const each of [a, b]) each.addEventListener(type, listener, options)
    },
    removeEventListener(type, listener) {
      for (const each of [a, b]) each.removeEventListener(type, listener)
    },
  }
}
