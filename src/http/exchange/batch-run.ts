/**
 * The items of a batch on their way through the decider, a bounded number at a time.
 *
 * Many at once, so that the engine evaluates a state that several of them have only once; not
 * all, so that a batch neither fills the engine's queue up for others nor piles up answers that
 * its client does not read.
 *
 * Rules
 *   1. Every item that was handed over is settled once, in any order.
 *   2. An item is handed over with a place of its own, and gives it back when it is settled. One
 *      of them at a time waits for a place: the batch stands in line like anybody else.
 *   3. An engine that has no room is no reason to give an item up while others of the batch are
 *      under way: it waits for one of them to end, and fewer are handed over from then on. With
 *      none of ours under way, it is others' requests that take the room, and the item fails.
 *
 * @module
 */

import type { Decided } from '../../decide/types.js'
import { OiError } from '../../errors.js'

/** Under way at once, at most: enough to fill the steps of a model with short requests. */
export const mostUnderWay = 64

export interface BatchRunOptions {
  /** The items to hand over, by their places in the batch, ascending. */
  readonly items: readonly number[]
  /** Takes a place for an item, now (undefined) or later. Rejects if it was given up. */
  readonly enter: () => Promise<void> | undefined
  readonly leave: () => void
  readonly decide: (index: number) => Promise<Decided>
  /** None of them may throw. */
  readonly onAnswer: (index: number, decision: Decided) => void
  readonly onFailure: (index: number, error: unknown) => void
}

export class BatchRun {
  readonly #options: BatchRunOptions
  #waiting: number[]
  /** Those that have a place, which are under way. */
  readonly #inside = new Set<number>()
  #inLine = false
  /** How many may be under way: less after a refusal, one more for each round of answers. */
  #width = mostUnderWay
  #paused = false
  #stopped = false

  /** Begins nothing yet. */
  constructor(options: BatchRunOptions) {
    this.#options = options
    this.#waiting = [...options.items]
  }

  /** Hands over as many as may be under way. */
  feed(): void {
    while (this.#wantsPlace()) {
      let admitted: Promise<void> | undefined
      try {
        admitted = this.#options.enter()
      } catch (error) {
        this.#options.onFailure(this.#waiting.shift()!, error)
        continue
      }
      if (admitted === undefined) {
        this.#start(this.#waiting.shift()!)
        continue
      }
      this.#inLine = true
      admitted.then(
        () => this.#enterLate(),
        () => (this.#inLine = false),
      )
    }
  }

  /** Hands over nothing more until `resume()`. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.feed()
  }

  /**
   * Hands over nothing more at all, and gives every place back. What is under way is for the
   * caller to cancel, and the place that it waits for to give up.
   */
  stop(): void {
    this.#stopped = true
    this.#waiting = []
    for (const index of this.#inside) this.#leave(index)
  }

  #wantsPlace(): boolean {
    if (this.#paused || this.#stopped || this.#inLine || this.#waiting.length === 0) return false
    return this.#inside.size < Math.floor(this.#width)
  }

  /** With a place that was waited for. */
  #enterLate(): void {
    this.#inLine = false
    // Nobody may want it any more: the client does not keep up, or all is over.
    if (this.#wantsPlace()) this.#start(this.#waiting.shift()!)
    else this.#options.leave()
    this.feed()
  }

  #start(index: number): void {
    this.#inside.add(index)
    this.#options.decide(index).then(
      (decision) => {
        this.#leave(index)
        this.#width = Math.min(mostUnderWay, this.#width + 1 / this.#width)
        this.#options.onAnswer(index, decision)
        this.feed()
      },
      (error: unknown) => {
        this.#leave(index)
        if (!this.#stopped && this.#inside.size > 0 && isOverload(error)) this.#giveBack(index)
        else this.#options.onFailure(index, error)
        this.feed()
      },
    )
  }

  #leave(index: number): void {
    if (this.#inside.delete(index)) this.#options.leave()
  }

  #giveBack(index: number): void {
    this.#width = this.#inside.size
    this.#waiting.push(index)
    this.#waiting.sort((a, b) => a - b)
  }
}

function isOverload(error: unknown): boolean {
  return error instanceof OiError && error.code === 'ERR_OVERLOADED'
}
