/**
 * When the next batch of bookings is sent to be written.
 *
 * @module
 */

/**
 * Turns of the event loop that a batch is collected in. What is at hand is read in them, so that
 * under load one batch takes what two would; otherwise they take no time.
 */
const gatherTurns = 3

/**
 * While somebody reads for long, the log cannot be folded into the file and grows with every
 * batch: the larger it is, the longer bookings are collected. Bytes, milliseconds.
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

  /** @param send - Called when it is time; it calls {@link clear}. */
  constructor(send: () => void) {
    this.#send = send
  }

  /** Sends as soon as the event loop has done what is at hand. @param logBytes - Of the file's log. */
  next(logBytes: number): void {
    if (this.#immediate !== undefined) return
    const paceMs = paces.find(([bytes]) => logBytes > bytes)?.[1]
    if (paceMs === undefined) this.#after(gatherTurns)
    else this.within(paceMs, true)
  }

  /**
   * Sends after `waitMs`, unless it is to be sent earlier already.
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

  /** Nothing is to be sent any more, until one of the others is called. */
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
