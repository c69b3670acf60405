/**
 * Frames queued for a runner, written in order as the runner reads them.
 *
 * A frame is built when it can be written; until then only its parts exist, which its caller holds
 * anyway. So a runner that does not read costs no memory.
 *
 * @module
 */

import type { Writable } from 'node:stream'
import { OiError } from '../errors.js'

interface Waiting {
  readonly id: number
  readonly make: () => Buffer
  readonly reject: (error: Error) => void
}

/** Most waiting frames: far more than an engine accepts, as the engine knows whom to refuse. */
export const mostWaiting = 16_384

/** How long a refused caller should wait: a runner that does not read for so long is replaced. */
const retryAfterMs = 1000

export class Outbox {
  readonly #stream: Writable
  #waiting: Waiting[] = []

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('drain', () => this.#writeWaiting())
  }

  /**
   * Writes a frame, now if there is room for it.
   *
   * @param reject - Called if it cannot be built, or if too many wait: `ERR_OVERLOADED`.
   */
  send(id: number, make: () => Buffer, reject: (error: Error) => void): void {
    if (this.#waiting.length === 0 && !this.#stream.writableNeedDrain) {
      this.#write({ id, make, reject })
    } else if (this.#waiting.length < mostWaiting) {
      this.#waiting.push({ id, make, reject })
    } else {
      const message = "The model's process takes no more requests for now"
      reject(new OiError('ERR_OVERLOADED', message, { retryAfterMs }))
    }
  }

  /** @returns Whether it was still waiting; it is not written then. */
  drop(id: number): boolean {
    const at = this.#waiting.findIndex((each) => each.id === id)
    if (at < 0) return false
    this.#waiting.splice(at, 1)
    return true
  }

  #writeWaiting(): void {
    const waiting = this.#waiting
    let at = 0
    while (at < waiting.length && !this.#stream.writableNeedDrain) this.#write(waiting[at++]!)
    this.#waiting = waiting.slice(at)
  }

  #write({ make, reject }: Waiting): void {
    try {
      this.#stream.write(make())
    } catch (error) {
      reject(error as Error)
    }
  }
}
