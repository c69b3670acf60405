/**
 * A set of line numbers, one bit each.
 *
 * @module
 */

/** 128 KB for a million lines. */
export class LineSet {
  #bits = new Uint8Array(1024)

  /** @param line - From 0. @returns False if the set has it already. */
  add(line: number): boolean {
    if (this.has(line)) return false
    const at = line >> 3
    if (at >= this.#bits.length) {
      const larger = new Uint8Array(Math.max(at + 1, 2 * this.#bits.length))
      larger.set(this.#bits)
      this.#bits = larger
    }
    this.#bits[at]! |= 1 << (line & 7)
    return true
  }

  has(line: number): boolean {
    return ((this.#bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0
  }
}
