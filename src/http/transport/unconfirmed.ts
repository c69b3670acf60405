import type { Served } from '../contract.js'
/**
 * The requests of a connection whose replies may not have arrived.
 *
 * A client that waits for a reply before its next request shows with that one that it has the
 * reply; one that sends early shows nothing, so that a lost connection may lose several replies.
 *
 * @module
 */

/** Of a client that never waits for a reply; before them, all counts as arrived. */
const mostEarly = 64

type Answered = Pick<Served, 'arrived' | 'abandon'>

export class Unconfirmed {
  #requests: Answered[] = []

  /** A request has come. @param early - Whether a reply was still to leave when it was sent. */
  next(early: boolean): void {
    if (!early || this.#requests.length >= mostEarly) this.end(false)
  }

  add(request: Answered): void {
    this.#requests.push(request)
  }

  /** The connection has been closed. @param lost - Whether what was sent may not have arrived. */
  end(lost: boolean): void {
    const requests = this.#requests
    if (requests.length === 0) return
    this.#requests = []
    for (const request of requests) {
      if (lost) request.abandon()
      else request.arrived()
    }
  }
}
