/**
 * Requests of exact sizes, in the forms of the wire, the engine and llama.cpp's server.
 *
 * @module
 */

import type { DecideRequest, NoulQuestion } from '../../src/decide/types.js'
import type { Engine, PromptPart, ScoreInput } from '../../src/engine/types.js'
import { createReadout } from '../../src/prompt/readout.js'
import type { Readout } from '../../src/prompt/types.js'
import { randomText, Texts } from './texts.js'

export interface Size {
  readonly stateTokens: number
  readonly questions: number
  readonly questionTokens: number
}

export class Requests {
  readonly #engine: Engine
  readonly #readout: Readout
  readonly #texts: Texts

  private constructor(engine: Engine, readout: Readout, texts: Texts) {
    this.#engine = engine
    this.#readout = readout
    this.#texts = texts
  }

  static async create(engine: Engine): Promise<Requests> {
    return new Requests(engine, await createReadout(engine), await Texts.create(engine))
  }

  /** A new state and new questions; sizes include the template's tokens. */
  async make(size: Size): Promise<DecideRequest> {
    const state = await this.#texts.exact(
      size.stateTokens,
      (text) => this.#render(text, { type: 'noul', instructions: '?' }).prefix,
    )
    return this.again({ state, questions: {} }, size)
  }

  /** New questions about the state of another request. */
  async again({ state }: DecideRequest, size: Omit<Size, 'stateTokens'>): Promise<DecideRequest> {
    const questions: Record<string, NoulQuestion> = {}
    for (let i = 0; i < size.questions; i++) {
      const instructions = await this.#texts.exact(
        size.questionTokens,
        (text) => this.#render('', { type: 'noul', instructions: text }).suffixes[0]!.parts,
      )
      questions[`q${i}`] = { type: 'noul', instructions }
    }
    return { state, questions }
  }

  /** New states, each followed by itself with new questions. */
  async pairs(count: number, size: Size): Promise<DecideRequest[]> {
    const pairs: DecideRequest[] = []
    for (let i = 0; i < count; i++) {
      const request = await this.make(size)
      pairs.push(request, await this.again(request, size))
    }
    return pairs
  }

  /** Of about these sizes, without the template's tokens: fast to make. */
  rough(size: Size): DecideRequest {
    const questions = Object.fromEntries(
      Array.from({ length: size.questions }, (_, i) => [
        `q${i}`,
        { type: 'noul', instructions: randomText(size.questionTokens) } as const,
      ]),
    )
    return { state: randomText(size.stateTokens), questions }
  }

  input(request: DecideRequest): ScoreInput {
    return this.#readout.render(request).input
  }

  /** One prompt for each question: state and question as one row of tokens. */
  async prompts(request: DecideRequest): Promise<number[][]> {
    const { prefix, suffixes } = this.input(request)
    const state = await this.#tokens(prefix)
    return Promise.all(
      suffixes.map(async ({ parts }) => [...state, ...(await this.#tokens(parts))]),
    )
  }

  async #tokens(parts: readonly PromptPart[]): Promise<number[]> {
    return (await this.#engine.tokenize(parts)).flatMap((ids) => [...ids])
  }

  #render(state: string, question: NoulQuestion): ScoreInput {
    return this.#readout.render({ state, questions: { q: question } }).input
  }
}

/** Unique prompt tokens: the least that has to be evaluated. */
export function uniqueTokens(prompts: readonly (readonly number[])[]): number {
  const sorted = prompts.toSorted(compare)
  return sorted.reduce((sum, prompt, i) => sum + prompt.length - shared(sorted[i - 1], prompt), 0)
}

function compare(a: readonly number[], b: readonly number[]): number {
  const same = shared(a, b)
  return (a[same] ?? -1) - (b[same] ?? -1)
}

function shared(a: readonly number[] | undefined, b: readonly number[]): number {
  if (a === undefined) return 0
  const end = a.findIndex((id, i) => id !== b[i])
  return end === -1 ? a.length : end
}
