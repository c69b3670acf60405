/**
 * The clock of bodies that are still arriving.
 *
 * Rules
 *   1. A body has its time from the end of its head; nothing that arrives sets that clock anew.
 *   2. In each ten seconds at least 10,240 bytes of it arrive, or its end.
 *
 * @module
 */

import type { Leave } from '../../chain.js'
import { OiError } from '../../errors.js'
import { Deadlines, type Expirable } from '../exchange/deadlines.js'

/** How often a body is looked at. */
const lookMs = 1000
const paceMs = 10_000
const paceBytes = 10_240

export class BodyClock {
  readonly limitMs: number
  readonly #looks: Deadlines

  constructor(limitMs: number) {
    this.limitMs = limitMs
    this.#looks = new Deadlines(Math.min(lookMs, limitMs))
  }

  /** @param late - Called once, unless the body ends before. Must not throw. */
  begin(late: (error: OiError) => void): ArrivingBody {
    return new ArrivingBody(this.limitMs, this.#looks, late)
  }
}

/** A body from the end of its head until its own end. */
export class ArrivingBody implements Expirable {
  readonly #limitMs: number
  readonly #looks: Deadlines
  readonly #late: (error: OiError) => void
  readonly #startMs = performance.now()
  #leave: Leave
  /** Of the present ten seconds. */
  #sinceMs = this.#startMs
  #bytes = 0

  constructor(limitMs: number, looks: Deadlines, late: (error: OiError) => void) {
    this.#limitMs = limitMs
    this.#looks = looks
    this.#late = late
    this.#leave = looks.add(this)
  }

  receive(bytes: number): void {
    this.#bytes += bytes
  }

  /** Idempotent. */
  end(): void {
    this.#leave()
  }

  expire(): void {
    const now = performance.now()
    if (now - this.#startMs >= this.#limitMs) {
      this.#late(lateError(`did not come within ${this.#limitMs} ms (--body-timeout-ms)`))
      return
    }
    if (now - this.#sinceMs >= paceMs) {
      if (this.#bytes < paceBytes) {
        this.#late(lateError('came more slowly than 1,024 bytes a second'))
        return
      }
      this.#sinceMs = now
      this.#bytes = 0
    }
    this.#leave = this.#looks.add(this)
  }
}

function lateError(rule: string): OiError {
  return new OiError('ERR_BODY_TIMEOUT', `The body of the request ${rule}`)
}
