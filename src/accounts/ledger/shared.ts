/**
 * Memory that the event loop and the writer's thread share.
 *
 * @module
 */

import { Replies } from '../store/replies.js'

/** Indexes in the shared array; the first is the count of replies. */
const [phase, writerId, size] = [1, 2, 3]
/** Phases of the group under way. */
const [open, committing, withdrawn] = [0, 1, 2]

export class Shared {
  readonly buffer: SharedArrayBuffer
  /** Of the writer's thread. */
  readonly replies: Replies
  readonly #cells: Int32Array

  constructor(buffer = new SharedArrayBuffer(size * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer
    this.replies = new Replies(buffer)
    this.#cells = new Int32Array(buffer)
  }

  /** This process' writer number; 0 while it has none. */
  get writer(): number {
    return Atomics.load(this.#cells, writerId)
  }

  /** Set before anything is committed under it. */
  set writer(id: number) {
    Atomics.store(this.#cells, writerId, id)
  }

  /** Before a group is sent. */
  beginGroup(): void {
    Atomics.store(this.#cells, phase, open)
  }

  /**
   * The writer's side: from here on the group cannot be withdrawn. @returns False if it has been.
   */
  beginCommit(): boolean {
    const before = Atomics.compareExchange(this.#cells, phase, open, committing)
    return before === open
  }

  /** The sender's side: the group must not be committed. @returns False if it may be already. */
  withdraw(): boolean {
    return Atomics.compareExchange(this.#cells, phase, open, withdrawn) !== committing
  }
}
