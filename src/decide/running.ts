/**
 * The requests of an open model that are under way, for its close.
 *
 * @module
 */

import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cancellation } from '../engine/types.js'
import { OiError } from '../errors.js'

export class Running {
  readonly #running = new Set<Promise<unknown>>()
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
    const running = act(signal === undefined ? stop : either(signal, stop))
    this.#running.add(running)
    try {
      return await running
    } catch (error) {
      if (stop.aborted && !signal?.aborted) throw closed()
      throw error
    } finally {
      this.#running.delete(running)
    }
  }

  /** Refuses new requests, and waits for those under way: then it ends them. */
  async close(): Promise<void> {
    this.#closing = true
    const settled = Promise.allSettled(this.#running)
    const waited = new AbortController()
    const late = sleep(this.#graceMs, undefined, { signal: waited.signal }).then(() =>
      this.#stop.abort(),
    )
    await Promise.race([settled, late])
    waited.abort()
    await Promise.allSettled([settled, late])
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
