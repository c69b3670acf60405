/**
 * Random texts of an exact number of tokens.
 *
 * Words of one token each after a space, so that a text grows token by token. Texts begin with
 * different words: an engine finds no text in its cache of the last one.
 *
 * @module
 */

import type { Engine, PromptPart } from '../../src/engine/types.js'

const words =
  `time year people way day man thing woman life child world school state family student group
  country problem hand part place case week company system program question work government
  number night point home water room mother area money story fact month lot right study book eye
  job word business issue side kind head house service friend father power hour game line end
  member law car city community name president team minute idea kid body information back parent
  face others level office door health person art war history party result change morning reason
  research girl guy moment air teacher force education`.split(/\s+/)

/** Words that are one token each in most vocabularies. @param random - 0 up to 1. */
export function randomText(count: number, random: () => number = Math.random): string {
  return Array.from({ length: count }, () => words[Math.floor(random() * words.length)]!).join(' ')
}

/** Corrections before a tokenizer counts as unfit for exact texts. */
const maxTries = 8

export class Texts {
  readonly #engine: Engine
  readonly #words: readonly string[]
  #made = 0

  private constructor(engine: Engine, single: readonly string[]) {
    this.#engine = engine
    this.#words = single
  }

  static async create(engine: Engine): Promise<Texts> {
    const ids = await engine.tokenize(words.map((word) => ({ text: ` ${word}`, trusted: false })))
    const single = words.filter((_, i) => ids[i]!.length === 1)
    if (single.length < 2) throw new Error('This model has no common words as single tokens.')
    return new Texts(engine, single)
  }

  /**
   * Words from which `build` makes a prompt of exactly `tokens` tokens.
   *
   * @throws Error if there is none: `build` adds more tokens than that by itself.
   */
  async exact(tokens: number, build: (text: string) => readonly PromptPart[]): Promise<string> {
    const first = this.#words[this.#made++ % this.#words.length]!
    const chosen = [first]
    for (let attempt = 0; attempt < maxTries; attempt++) {
      const text = chosen.join(' ')
      const missing = tokens - (await this.#count(build(text)))
      if (missing === 0) return text
      if (missing < 0) chosen.length = Math.max(1, chosen.length + missing)
      for (let i = 0; i < missing; i++) chosen.push(this.#random())
    }
    throw new Error(`No text makes a prompt of exactly ${tokens} tokens: try more tokens.`)
  }

  #random(): string {
    return this.#words[Math.floor(Math.random() * this.#words.length)]!
  }

  async #count(parts: readonly PromptPart[]): Promise<number> {
    const ids = await this.#engine.tokenize(parts)
    return ids.reduce((sum, part) => sum + part.length, 0)
  }
}
