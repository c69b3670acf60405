/**
 * Replies of a thread for which a caller can block: the thread counts them in shared memory.
 *
 * @module
 */

import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'

export class Replies {
  readonly #count: Int32Array

  /** @param buffer - Its first four bytes are the count. */
  constructor(buffer: SharedArrayBuffer) {
    this.#count = new Int32Array(buffer, 0, 1)
  }

  /** The thread's side. */
  post(port: MessagePort, reply: unknown): void {
    port.postMessage(reply)
    Atomics.add(this.#count, 0, 1)
    Atomics.notify(this.#count, 0)
  }

  /**
   * Blocks this thread until one of the port's replies is the one that `take` needs, or the time is up.
   *
   * @returns Whether it came.
   */
  await<Reply>(port: MessagePort, limitMs: number, take: (reply: Reply) => boolean): boolean {
    const endMs = performance.now() + limitMs
    for (;;) {
      // Read first: a later reply then ends the wait.
      const count = Atomics.load(this.#count, 0)
      const received = receiveMessageOnPort(port)
      if (received !== undefined) {
        if (take(received.message as Reply)) return true
        continue
      }
      const leftMs = endMs - performance.now()
      if (leftMs <= 0) return false
      Atomics.wait(this.#count, 0, count, leftMs)
    }
  }
}
