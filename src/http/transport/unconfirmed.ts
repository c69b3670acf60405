/**
 * The requests of a connection whose replies may not have arrived.
 *
 * A client that waits for a reply before its next request shows with that one that it has the
 * reply; one that sends early shows nothing, so that a lost connection may lose several replies.
 *
 * @module
 */

import type { Exchange } from '../exchange/exchange.js'

/** Of a client that never waits for a reply; before them, all counts as arrived. */
const mostEarly = 64

export class Unconfirmed {
  #exchanges: Exchange[] = []

  /** A request has come. @param early - Whether a reply was still to leave when it was sent. */
  next(early: boolean): void {
    if (!early || this.#exchanges.length >= mostEarly) this.end(false)
  }

  add(exchange: Exchange): void {
    this.#exchanges.push(exchange)
  }

  /** The connection has been closed. @param lost - Whether what was sent may not have arrived. */
  end(lost: boolean): void {
    const exchanges = this.#exchanges
    if (exchanges.length === 0) return
    this.#exchanges = []
    for (const exchange of exchanges) {
      if (lost) exchange.abandon()
      else exchange.arrived()
    }
  }
}
