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
  #last: Answered | undefined
  /** Those before the last one; most connections have none. */
  #early: Answered[] | undefined

  /** A request has come. @param early - Whether a reply was still to leave when it was sent. */
  next(early: boolean): void {
    if (!early || (this.#early?.length ?? 0) >= mostEarly) return this.end(false)
    if (this.#last !== undefined) (this.#early ??= []).push(this.#last)
    this.#last = undefined
  }

  add(request: Answered): void {
    this.#last = request
  }

  /** The connection has been closed. @param lost - Whether what was sent may not have arrived. */
  end(lost: boolean): void {
    const early = this.#early
    const last = this.#last
    this.#early = this.#last = undefined
    if (early !== undefined) for (const request of early) tell(request, lost)
    if (last !== undefined) tell(last, lost)
  }
}

function tell(request: Answered, lost: boolean): void {
  if (lost) request.abandon()
  else request.arrived()
}
