/**
 * The items of a batch on their way through the decider, a bounded number at a time.
 *
 * Many at once, so that the engine evaluates a state that several of them have only once; not
 * all, so that a batch neither fills the engine's queue up for others nor piles up answers that
 * its client does not read.
 *
 * Rules
 *   1. Every item that was handed over is settled once, in any order.
 *   2. An engine that has no room is no reason to give an item up while others of the batch are
 *      under way: it waits for one of them to end, and fewer are handed over from then on. With
 *      none of ours under way, it is others' requests that take the room, and the item fails.
 *
 * @module
 */

import type { Decision } from '../decide/types.js'
import { OiError } from '../errors.js'

/** Under way at once, at most: enough to fill the steps of a model with short requests. */
export const mostUnderWay = 64

export interface BatchRunOptions {
  /** The items to hand over, by their places in the batch, ascending. */
  readonly items: readonly number[]
  readonly decide: (index: number) => Promise<Decision>
  /** Neither of them may throw. */
  readonly onAnswer: (index: number, decision: Decision) => void
  readonly onFailure: (index: number, error: unknown) => void
}

export class BatchRun {
  readonly #options: BatchRunOptions
  #waiting: number[]
  #underWay = 0
  /** How many may be under way: less after a refusal, one more for each round of answers. */
  #width = mostUnderWay
  #paused = false

  /** Begins nothing yet. */
  constructor(options: BatchRunOptions) {
    this.#options = options
    this.#waiting = [...options.items]
  }

  /** Hands over as many as may be under way. */
  feed(): void {
    while (!this.#paused && this.#underWay < Math.floor(this.#width)) {
      const index = this.#waiting.shift()
      if (index === undefined) return
      this.#start(index)
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

  /** Hands over nothing more at all. What is under way is for the caller to cancel. */
  stop(): void {
    this.#waiting = []
    this.pause()
  }

  #start(index: number): void {
    this.#underWay++
    this.#options.decide(index).then(
      (decision) => {
        this.#underWay--
        this.#width = Math.min(mostUnderWay, this.#width + 1 / this.#width)
        this.#options.onAnswer(index, decision)
        this.feed()
      },
      (error: unknown) => {
        this.#underWay--
        if (this.#underWay > 0 && isOverload(error)) this.#giveBack(index)
        else this.#options.onFailure(index, error)
        this.feed()
      },
    )
  }

  #giveBack(index: number): void {
    this.#width = this.#underWay
    this.#waiting.push(index)
    this.#waiting.sort((a, b) => a - b)
  }
}

function isOverload(error: unknown): boolean {
  return error instanceof OiError && error.code === 'ERR_OVERLOADED'
}
