/**
 * Which byte ranges of a file are present.
 *
 * @module
 */

/** From a first byte up to, and without, another. */
export type Span = readonly [from: number, to: number]

/** Spans in order; no two touch. */
export class Ranges {
  #spans: Span[]

  /** @param spans - In any order. */
  constructor(spans: readonly Span[] = []) {
    this.#spans = []
    for (const [from, to] of spans) this.add(from, to)
  }

  get spans(): readonly Span[] {
    return this.#spans
  }

  get bytes(): number {
    return this.#spans.reduce((sum, [from, to]) => sum + to - from, 0)
  }

  add(from: number, to: number): void {
    if (to <= from) return
    const touching = this.#spans.filter((span) => span[0] <= to && span[1] >= from)
    const others = this.#spans.filter((span) => span[0] > to || span[1] < from)
    const start = Math.min(from, ...touching.map((span) => span[0]))
    const end = Math.max(to, ...touching.map((span) => span[1]))
    this.#spans = [...others, [start, end] as const].sort((a, b) => a[0] - b[0])
  }

  remove(from: number, to: number): void {
    this.#spans = this.#spans.flatMap(([start, end]) => {
      const left: Span = [start, Math.min(end, from)]
      const right: Span = [Math.max(start, to), end]
      return [left, right].filter((span) => span[1] > span[0])
    })
  }

  /** The missing spans up to a length, in pieces of at most so many bytes. */
  missing(length: number, pieceBytes: number): Span[] {
    const pieces: Span[] = []
    let at = 0
    for (const [from, to] of [...this.#spans, [length, length] as const]) {
      for (; at < Math.min(from, length); at += pieceBytes) {
        pieces.push([at, Math.min(at + pieceBytes, from, length)])
      }
      at = to
    }
    return pieces
  }
}
