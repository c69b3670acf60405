/**
 * Does long work in steps, over several turns of the event loop.
 *
 * Rules
 *   1. At a `yield`, other work may have the event loop. Between two of them lies less than a
 *      millisecond of work, as far as possible.
 *   2. All such work in the process takes turns: one piece, and then other events. However much
 *      work there is, other events wait for one piece of it only.
 *
 * @module
 */

export type Steps<T> = Generator<undefined, T, undefined>

/** How long one piece of work may block the event loop, milliseconds. */
const pieceMs = 4

/** Does all steps now: for programs that do nothing else. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Does the steps in pieces, beginning in the next turn. Rejects with the error they throw. */
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

/** Resolves in a turn of the event loop that no other caller of this function gets. */
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
