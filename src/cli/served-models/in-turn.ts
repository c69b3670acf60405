/**
 * What is done one after another, in the order in which it was asked for.
 *
 * @module
 */

export class InTurn {
  /** Of what was asked for last; never rejects. */
  #last: Promise<unknown> = Promise.resolve()
  /** What is under way, or waits for it. */
  #count = 0

  /** @param onWait - Told if something is under way. */
  run<T>(task: () => Promise<T>, onWait: () => void = () => {}): Promise<T> {
    if (this.#count++ > 0) onWait()
    const done = this.#last.then(task).finally(() => this.#count--)
    this.#last = done.catch(() => {})
    return done
  }
}
