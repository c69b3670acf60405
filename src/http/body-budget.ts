/**
 * How many bytes of request bodies the process holds, which has a bound.
 *
 * What a request has announced is taken at once, so that what is begun can also be finished; what
 * comes without an announcement is taken as it comes. It is given back when the request ends.
 *
 * @module
 */

import { OiError } from '../errors.js'

export class BodyBudget {
  #heldBytes = 0

  constructor(public maxBytes: number) {}

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** @throws {@link OiError} `ERR_OVERLOADED` if they do not fit beside what others hold. */
  take(bytes: number): void {
    // A request that is allowed by itself always fits when it is alone.
    if (this.#heldBytes > 0 && this.#heldBytes + bytes > this.maxBytes) {
      throw new OiError('ERR_OVERLOADED', 'The server’s memory for request bodies is full')
    }
    this.#heldBytes += bytes
  }

  giveBack(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
