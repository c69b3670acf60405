/**
 * A request body as it arrives, never longer than its bound.
 *
 * Chunks are copied into one buffer that doubles: a body sent byte by byte costs no more memory
 * than one sent at once, and an announced length allocates nothing by itself.
 *
 * @module
 */

const firstCapacity = 16_384

export class Body {
  readonly #maxBytes: number
  #bytes = Buffer.alloc(0)
  #length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /**
   * Copies a chunk to the end.
   *
   * @returns False if the body would exceed its bound; nothing is kept then.
   */
  push(chunk: Uint8Array): boolean {
    const length = this.#length + chunk.length
    if (length > this.#maxBytes) {
      this.#bytes = Buffer.alloc(0)
      this.#length = 0
      return false
    }
    if (length > this.#bytes.length) {
      const capacity = Math.min(
        this.#maxBytes,
        Math.max(length, 2 * this.#bytes.length, firstCapacity),
      )
      const grown = Buffer.allocUnsafeSlow(capacity)
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
    return true
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }
}
