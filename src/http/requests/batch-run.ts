/**
 * Hands the items of a batch to the decider, a bounded number at a time.
 *
 * Several at once, so that the engine evaluates a shared state only once; not all, so that a batch
 * neither fills the engine's queue nor piles up answers that its client does not read.
 *
 * Rules
 *   1. Every item that is handed over is settled once, in any order.
 *   2. Each item under way holds one of the workspace's places and gives it back when it is
 *      settled. Only one item at a time waits for a place, so a batch queues like a single request.
 *   3. Making many prompts takes long: other work has its turn in between.
 *   4. If the engine has no room while other items of the batch are under way, the item waits until
 *      one of them ends, and fewer items are handed over from then on. If no other item is under
 *      way, other requests fill the engine, and the item fails.
 *
 * @module
 */

import { nextTurn } from '../../api/turns.js'
import type { Decided } from '../../decide/types.js'
import { isOverload } from '../../errors.js'

/** Items under way at once, at most: enough to fill a model's steps with short requests. */
export const mostUnderWay = 64

/** How long items may be handed over before other work has its turn, milliseconds. */
const pieceMs = 4

interface BatchRunOptions {
  /** The items to hand over, by their index in the batch, ascending. */
  readonly items: readonly number[]
  /** Takes a place for an item, now (undefined) or later. Rejects if the wait was given up. */
  readonly enter: () => Promise<void> | undefined
  readonly leave: () => void
  readonly decide: (index: number) => Promise<Decided>
  /** None of these callbacks may throw. */
  readonly onAnswer: (index: number, decision: Decided) => void
  readonly onFailure: (index: number, error: unknown) => void
  /** Milliseconds on a clock that never goes back. `performance.now` by default. */
  readonly now?: () => number
}

export class BatchRun {
  readonly #options: BatchRunOptions
  #waiting: number[]
  /** The items that hold a place and are under way. */
  readonly #inside = new Set<number>()
  #inLine = false
  /**
   * How many items may be under way: fewer after a refusal, one more after each round of answers.
   */
  #width = mostUnderWay
  #paused = false
  #stopped = false
  /** Whether other work has its turn, and more is handed over after that. */
  #resting = false

  /** Does not begin yet. */
  constructor(options: BatchRunOptions) {
    this.#options = options
    this.#waiting = [...options.items]
  }

  /** Hands over as many items as may be under way. */
  feed(): void {
    const { now = () => performance.now() } = this.#options
    const endMs = now() + pieceMs
    while (this.#wantsPlace()) {
      if (now() > endMs) {
        this.#resting = true
        void nextTurn().then(() => {
          this.#resting = false
          this.feed()
        })
        return
      }
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

  /** Hands over nothing until `resume()`. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    this.feed()
  }

  /**
   * Hands over nothing more, and gives back every place. The caller cancels the items under way and
   * the wait for a place.
   */
  stop(): void {
    this.#stopped = true
    this.#waiting = []
    for (const index of this.#inside) this.#leave(index)
  }

  #wantsPlace(): boolean {
    if (this.#paused || this.#stopped || this.#inLine || this.#resting) return false
    if (this.#waiting.length === 0) return false
    return this.#inside.size < Math.floor(this.#width)
  }

  /** With the place that was waited for. */
  #enterLate(): void {
    this.#inLine = false
    // The place may not be wanted any more: the client reads too slowly, or the batch has ended.
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
