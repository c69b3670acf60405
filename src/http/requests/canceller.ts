/**
 * Cancels one request: AbortController and signal in one object.
 *
 * A real pair cost 6 % of a request's time on the server, mostly for event machinery that is not
 * used here.
 *
 * @module
 */

import type { Cancellation } from '../../engine/types.js'

export class Canceller implements Cancellation {
  aborted = false
  reason: unknown
  #listeners: (() => void)[] | undefined

  /** Tells every listener, once. Later calls do nothing. */
  abort(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    const listeners = this.#listeners
    this.#listeners = undefined
    listeners?.forEach((listener) => listener())
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) (this.#listeners ??= []).push(listener)
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners?.filter((other) => other !== listener)
  }
}
