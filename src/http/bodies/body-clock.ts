/**
 * The clock of bodies that are still arriving.
 *
 * Rules
 *   1. A body has its time from the end of its head; nothing that arrives sets that clock anew.
 *   2. In each ten seconds at least 10,240 bytes of it arrive, or its end.
 *
 * @module
 */

import { OiError } from '../../errors.js'

/** How often the bodies are looked at, at most; and how many times within a short limit. */
const [lookMs, looksPerLimit] = [1000, 8]
const paceMs = 10_000
const paceBytes = 10_240

export class BodyClock {
  readonly limitMs: number
  readonly #lookMs: number
  /** In no order: one look finds all that are late, and a body costs no object of the list. */
  readonly #arriving: ArrivingBody[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(limitMs: number) {
    this.limitMs = limitMs
    this.#lookMs = Math.min(lookMs, limitMs / looksPerLimit)
  }

  /** @param late - Called once, unless the body ends before. Must not throw. */
  begin(late: (error: OiError) => void): ArrivingBody {
    this.#timer ??= setTimeout(() => this.#look(), this.#lookMs).unref()
    return new ArrivingBody(this.#arriving, late)
  }

  #look(): void {
    for (const body of [...this.#arriving]) body.look(this.limitMs)
    if (this.#arriving.length > 0) this.#timer!.refresh()
    else this.#timer = undefined
  }
}

/** A body from the end of its head until its own end. */
export class ArrivingBody {
  readonly #list: ArrivingBody[]
  readonly #late: (error: OiError) => void
  readonly #startMs = performance.now()
  /** In the list; -1: it has ended. */
  #place: number
  /** Of the present ten seconds. */
  #sinceMs = this.#startMs
  #bytes = 0

  /** @param list - It joins that, and leaves it with its end. */
  constructor(list: ArrivingBody[], late: (error: OiError) => void) {
    this.#list = list
    this.#late = late
    this.#place = list.push(this) - 1
  }

  receive(bytes: number): void {
    this.#bytes += bytes
  }

  /** Idempotent. */
  end(): void {
    if (this.#place < 0) return
    const last = this.#list.pop()!
    last.#place = this.#place
    if (last !== this) this.#list[this.#place] = last
    this.#place = -1
  }

  /** @param limitMs - The time that it has as a whole. */
  look(limitMs: number): void {
    if (this.#place < 0) return
    const now = performance.now()
    if (now - this.#startMs >= limitMs) {
      this.#expire(`did not come within ${limitMs} ms (--body-timeout-ms)`)
    } else if (now - this.#sinceMs >= paceMs) {
      if (this.#bytes < paceBytes) this.#expire('came more slowly than 1,024 bytes a second')
      this.#sinceMs = now
      this.#bytes = 0
    }
  }

  #expire(rule: string): void {
    this.end()
    this.#late(new OiError('ERR_BODY_TIMEOUT', `The body of the request ${rule}`))
  }
}
