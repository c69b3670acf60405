/**
 * The states and questions of random requests, and the right answer to each: that of an engine in
 * this process.
 *
 * @module
 */

import type { Engine, PromptPart, ScoreInput } from '../../src/engine/types.js'
import type { Random } from '../../test/helpers/random.js'

const states = 36
const questions = 12
/** Tokens that every fixture's vocabulary has. */
const candidates = Int32Array.of(32, 33, 34, 35)
/** Of one, two and four bytes, and text of a template. */
const words = ['river', 'stone', 'é', '🙂', 'engine', '<|im_end|>', '\n', '7', '\u0000', 'paper']

/** A state, and a range of the questions. */
export interface Wanted {
  readonly state: number
  readonly first: number
  readonly count: number
}

export class World {
  readonly #engine: Engine
  readonly #states: readonly string[]
  readonly #questions: readonly string[]
  readonly #logits = new Map<string, Promise<Float32Array>>()
  readonly #tokens = new Map<string, Promise<Int32Array>>()

  /** @param engine - Deterministic, so that each answer is computed once. */
  constructor(engine: Engine, random: Random) {
    this.#engine = engine
    const text = (length: number) =>
      Array.from({ length }, () => random.pick(words)).join(random.pick([' ', '']))
    const beginnings = [text(60), text(10), '']
    this.#states = Array.from({ length: states }, (_, i) => {
      const length = random.pick([1, 5, 40, 200])
      return `${random.pick(beginnings)}${i}: ${text(length)}`
    })
    this.#questions = Array.from(
      { length: questions },
      (_, i) => `\n${i}? ${text(1 + (i % 5) ** 2)}`,
    )
  }

  pick(random: Random): Wanted {
    const first = random.integer(questions)
    const count = random.pick([1, 1, 1, 2, Math.min(4, questions - first), questions - first])
    return { state: random.integer(states), first, count: Math.min(count, questions - first) }
  }

  text(random: Random): string {
    return random.next() < 0.5 ? random.pick(this.#states) : random.pick(this.#questions)
  }

  input({ state, first, count }: Wanted): ScoreInput {
    return {
      prefix: [user(this.#states[state]!)],
      suffixes: this.#questions
        .slice(first, first + count)
        .map((question) => ({ parts: [user(question)], candidates })),
    }
  }

  /** @returns Its logits, to the bit. */
  logits(wanted: Wanted): Promise<Float32Array> {
    return once(this.#logits, Object.values(wanted).join(), async () => {
      return (await this.#engine.score(this.input(wanted))).logits
    })
  }

  tokens(text: string): Promise<Int32Array> {
    return once(this.#tokens, text, async () => (await this.#engine.tokenize([user(text)]))[0]!)
  }
}

export const user = (text: string): PromptPart => ({ text, trusted: false })

function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
}
