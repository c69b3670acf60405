/**
 * When the next batch of bookings is sent to be written.
 *
 * @module
 */

/**
 * A batch is collected during this many turns of the event loop. The turns read what has arrived,
 * so under load one batch takes the place of two; without load they take no time.
 */
const gatherTurns = 3

/**
 * While a reader takes long, no checkpoint is possible and the WAL grows with every batch: the
 * larger it is, the longer bookings are collected. Bytes, milliseconds.
 */
const paces = [
  [64 * 1024 * 1024, 100],
  [16 * 1024 * 1024, 20],
] as const

export class SendTiming {
  readonly #send: () => void
  #timer: NodeJS.Timeout | undefined
  #timerAtMs = Infinity
  #immediate: NodeJS.Immediate | undefined

  /** @param send - Called when it is time to send; it calls {@link clear}. */
  constructor(send: () => void) {
    this.#send = send
  }

  /** Sends once the event loop has done its current work. @param logBytes - The WAL's size. */
  next(logBytes: number): void {
    if (this.#immediate !== undefined) return
    const paceMs = paces.find(([bytes]) => logBytes > bytes)?.[1]
    if (paceMs === undefined) this.#after(gatherTurns)
    else this.within(paceMs, true)
  }

  /**
   * Sends after `waitMs`, unless an earlier time is set.
   *
   * @param keepsAlive - Whether the process must not end before.
   */
  within(waitMs: number, keepsAlive: boolean): void {
    const atMs = performance.now() + waitMs
    if (this.#timerAtMs <= atMs) return
    clearTimeout(this.#timer)
    this.#timerAtMs = atMs
    this.#timer = setTimeout(this.#send, waitMs)
    if (!keepsAlive) this.#timer.unref()
  }

  /** Cancels sending, until one of the others is called. */
  clear(): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#immediate)
    this.#timerAtMs = Infinity
    this.#immediate = undefined
  }

  #after(turns: number): void {
    this.#immediate = setImmediate(() => {
      if (turns > 1) this.#after(turns - 1)
      else this.#send()
    })
  }
}
