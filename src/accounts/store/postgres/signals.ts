/**
 * Memory that the event loop and the thread of its calls share.
 *
 * @module
 */

import { Replies } from '../replies.js'

/** Indexes in the shared array; the first is the count of replies. */
const [watched, total, size] = [1, 2, 3]

/** Milliseconds on a clock that all threads of this process have. */
export const sharedNowMs = (): number => Number(process.hrtime.bigint() / 1_000_000n)

export class Signals {
  readonly buffer: SharedArrayBuffer
  readonly replies: Replies
  readonly #cells: BigInt64Array

  constructor(buffer = new SharedArrayBuffer(size * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.replies = new Replies(buffer)
    this.#cells = new BigInt64Array(buffer)
  }

  /** The thread's side: PostgreSQL has told the tally of changes, as asked at this time. */
  noteTally(value: number, askedMs: number): void {
    Atomics.store(this.#cells, total, BigInt(value))
    Atomics.store(this.#cells, watched, BigInt(askedMs))
  }

  get tally(): number {
    return Number(Atomics.load(this.#cells, total))
  }

  /** For how long the tally may have changed without anybody here knowing, milliseconds. */
  get unknownForMs(): number {
    return sharedNowMs() - Number(Atomics.load(this.#cells, watched))
  }
}
