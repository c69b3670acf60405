/**
 * Codes: labels of several tokens, for a vocabulary that has too few of one.
 *
 * The probability of a code is the product of its tokens' probabilities, never their mean, which
 * would favour the codes of many tokens. Each token is read at a place of its own: behind the tail
 * and the part of the code before it. Codes that begin alike share these places, so that a set of
 * codes is a trie of tokens with a place for each of its inner nodes.
 *
 * Rules
 *   1. The text up to a place is tokenized into exactly the tail's tokens and those of the code
 *      before that place. Otherwise the next token would be asked for behind other tokens than
 *      those that it follows.
 *   2. No code is the beginning of another one, in tokens: its probability would hold the other's.
 *   3. A set has 64 places at most, as each of them is a suffix to evaluate.
 *
 * @module
 */

import { mostOptions } from '../api/limits.js'
import type { Engine } from '../engine/types.js'
import { alphabets, prefixesOf } from './labels.js'
import type { Layout } from './plain-layout.js'
import { tokensBehind } from './tokens-behind.js'

export interface Code {
  /** As it stands in the list of options, without a leading space. */
  readonly text: string
  /** At least one. */
  readonly steps: readonly CodeStep[]
}

export interface CodeStep {
  /** What stands between the tail and the token: '' for the first one. */
  readonly before: string
  readonly token: number
}

/** Places of a set at most (rule 3). */
export const mostPlaces = 64

/** Words of one width that are tried, as not every one may be a code. */
const mostWords = 4 * mostOptions

/**
 * The codes of a model: of the alphabet and the form (with a space before them or without) that
 * reach the most options. Letters before digits, of which a set takes thrice the places.
 *
 * @returns Sets of 2 to 255 codes, each longer than the one before; a question takes the first
 *   that is long enough. None if no alphabet has two characters that can be read.
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

/** Options that sets of codes reach, 0 without any. */
export function mostCodes(sets: readonly (readonly Code[])[]): number {
  return sets.at(-1)?.length ?? 0
}

/** A set for each width from one character on, up to the width that has enough words. */
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

/** The first words of so many characters, in the order of the alphabet. */
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

/** Of the words, those that keep the rules; 255 at most. */
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

/** '', then the first character, and so on, but not the whole text. */
function beginningsOf(text: string): string[] {
  return Array.from({ length: text.length }, (_, end) => text.slice(0, end))
}

/** Undefined if the text adds no ordinary tokens to the tail's, or rule 1 does not hold. */
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
