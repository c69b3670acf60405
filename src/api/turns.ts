/**
 * Work that is too long for one turn of the event loop, in steps.
 *
 * Rules
 *   1. A `yield` is a place where others may have the event loop. Between two of them lies less
 *      than a millisecond of work, as far as that can be arranged.
 *   2. All such work of the process shares the turns: one piece of it, and then whatever else has
 *      come. However much there is of it, others wait for one piece and not for all.
 *
 * @module
 */

export type Steps<T> = Generator<undefined, T, undefined>

/** How long a piece of work may hold the event loop, milliseconds. */
const pieceMs = 4

/** Does it all now: for programs that do nothing else. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Does it in pieces, the first of them not before the next turn. Rejects with what it throws. */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    await nextTurn()
    const endMs = performance.now() + pieceMs
    do {
      const { done, value } = steps.next()
      if (done) return value
    } while (performance.now() < endMs)
  }
}

const waiting: (() => void)[] = []
let armed = false

/** Resolves in a turn of the event loop in which nobody else of those who wait here has one. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (armed) return
    armed = true
    setImmediate(giveTurn)
  })
}

function giveTurn(): void {
  waiting.shift()?.()
  armed = waiting.length > 0
  if (armed) setImmediate(giveTurn)
}
