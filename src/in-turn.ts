/**
 * Runs tasks one after another, in the order of the calls.
 *
 * @module
 */

export class InTurn {
  /** The last task; never rejects. */
  #last: Promise<unknown> = Promise.resolve()
  /** The number of running and waiting tasks. */
  #count = 0

  /** @param onWait - Called if the task has to wait. */
  run<T>(task: () => Promise<T>, onWait: () => void = () => {}): Promise<T> {
    if (this.#count++ > 0) onWait()
    const done = this.#last.then(task).finally(() => this.#count--)
    this.#last = done.catch(() => {})
    return done
  }
}
