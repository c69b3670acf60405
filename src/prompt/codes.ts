/**
 * Codes: labels of several tokens, for a vocabulary with too few labels of one token.
 *
 * The probability of a code is the product of its tokens' probabilities, never their mean, which
 * would favour codes of many tokens. Each token is read at its own place: behind the tail and the
 * code's earlier tokens. Codes with a common beginning share places, so a set of codes is a trie of
 * tokens with a place for each inner node.
 *
 * Rules
 *   1. The text up to a place is tokenized into exactly the tail's tokens and the code's tokens
 *      before that place. Otherwise the next token would be read behind tokens that it does not
 *      follow.
 *   2. No code's tokens are the beginning of another's: its probability would include the other's.
 *   3. A set has 64 places at most, as each place is a suffix to evaluate.
 *
 * @module
 */

import { mostOptions } from '../api/limits.js'
import type { Engine } from '../engine/types.js'
import { alphabets, prefixesOf } from './labels.js'
import type { Layout } from './plain-layout.js'
import { tokensBehind } from './tokens-behind.js'

export interface Code {
  /** Its text in the list of options, without a leading space. */
  readonly text: string
  /** At least one. */
  readonly steps: readonly CodeStep[]
}

export interface CodeStep {
  /** The text between the tail and the token: '' for the first token. */
  readonly before: string
  readonly token: number
}

/** Most places of a set (rule 3). */
export const mostPlaces = 64

/** How many words of one length are tried, as not every word is a code. */
const mostWords = 4 * mostOptions

/**
 * The codes of a model, from the alphabet and the form (with a space before them or without) that
 * reach the most options. Letters before digits, as a set of digits takes three times as many
 * places.
 *
 * @returns Sets of 2 to 255 codes, each larger than the one before; a question takes the first that
 *   is large enough. None if no alphabet has two characters that can be read.
 */
export async function findCodes(
  engine: Engine,
  layout: Layout,
): Promise<readonly (readonly Code[])[]> {
  let best: readonly (readonly Code[])[] = []
  for (const alphabet of alphabets) {
    for (const prefix of prefixesOf(layout)) {
      const sets = await codeSets(engine, layout.tail, prefix, alphabet)
      if (mostCodes(sets) > mostCodes(best)) best = sets
      if (mostCodes(best) === mostOptions) return best
    }
  }
  return best
}

/** How many options the sets of codes reach; 0 without sets. */
export function mostCodes(sets: readonly (readonly Code[])[]): number {
  return sets.at(-1)?.length ?? 0
}

/** A set for each length from one character on, up to the length that has enough words. */
async function codeSets(
  engine: Engine,
  tail: string,
  prefix: string,
  alphabet: readonly string[],
): Promise<Code[][]> {
  const single = await codesOf(engine, tail, prefix, alphabet)
  if (single.length < 2) return []
  const sets = [single]
  const usable = single.map((code) => code.text)
  for (let width = 2; usable.length ** (width - 1) < mostOptions; width++) {
    const codes = await codesOf(engine, tail, prefix, wordsOf(usable, width))
    if (codes.length > mostCodes(sets)) sets.push(codes)
  }
  return sets
}

/** The first words of a length, in the order of the alphabet. */
function wordsOf(alphabet: readonly string[], width: number): string[] {
  const count = Math.min(mostWords, alphabet.length ** width)
  return Array.from({ length: count }, (_, number) => {
    let word = ''
    let rest = number
    for (let i = 0; i < width; i++) {
      word = alphabet[rest % alphabet.length]! + word
      rest = Math.floor(rest / alphabet.length)
    }
    return word
  })
}

/** The words that keep the rules; 255 at most. */
async function codesOf(
  engine: Engine,
  tail: string,
  prefix: string,
  words: readonly string[],
): Promise<Code[]> {
  const texts = words.map((word) => prefix + word)
  const asked = [...new Set(texts.flatMap((text) => [...beginningsOf(text), text]))]
  const behind = await tokensBehind(engine, tail, asked)
  const tokens = new Map(asked.map((text, i) => [text, behind[i]]))

  const codes: Code[] = []
  const bounds = new Bounds()
  for (const [i, text] of texts.entries()) {
    if (codes.length === mostOptions) break
    const steps = stepsOf(text, tokens)
    if (steps !== undefined && bounds.admit(steps)) codes.push({ text: words[i]!, steps })
  }
  return codes
}

/** All proper beginnings of a text: '', its first character, and so on. */
function beginningsOf(text: string): string[] {
  return Array.from({ length: text.length }, (_, end) => text.slice(0, end))
}

/** Undefined if the text adds no ordinary tokens to the tail's, or breaks rule 1. */
function stepsOf(
  text: string,
  tokensOf: ReadonlyMap<string, readonly number[] | undefined>,
): CodeStep[] | undefined {
  const tokens = tokensOf.get(text)
  if (tokens === undefined || tokens.length === 0) return undefined
  const beginnings = beginningsOf(text)
  const steps: CodeStep[] = []
  for (const [i, token] of tokens.entries()) {
    const path = tokens.slice(0, i).join()
    const before = beginnings.find((beginning) => {
      const own = tokensOf.get(beginning)
      return own?.length === i && own.join() === path
    })
    if (before === undefined) return undefined
    steps.push({ before, token })
  }
  return steps
}

/** Rules 2 and 3. */
class Bounds {
  readonly #codes = new Set<string>()
  readonly #beginnings = new Set<string>()
  readonly #places = new Set<string>()

  admit(steps: readonly CodeStep[]): boolean {
    const paths = steps.map((_, i) => {
      return steps
        .slice(0, i + 1)
        .map(({ token }) => token)
        .join()
    })
    const code = paths.pop()!
    if (this.#codes.has(code) || this.#beginnings.has(code)) return false
    if (paths.some((path) => this.#codes.has(path))) return false
    const isNew = steps.filter(({ before }) => !this.#places.has(before))
    if (this.#places.size + isNew.length > mostPlaces) return false

    this.#codes.add(code)
    for (const path of paths) this.#beginnings.add(path)
    for (const { before } of isNew) this.#places.add(before)
    return true
  }
}
