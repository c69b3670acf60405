/**
 * The tokens that a text adds at the place where an answer is read.
 *
 * @module
 */

import type { Engine, PromptPart } from '../engine/types.js'

/**
 * For each text, its tokens behind the tail; undefined if the tokens of both are not the tail's own
 * tokens and further ordinary ones: a text can change how the text before it is tokenized.
 */
export async function tokensBehind(
  engine: Engine,
  tail: string,
  texts: readonly string[],
): Promise<(readonly number[] | undefined)[]> {
  const part = (text: string): PromptPart => ({ text: tail + text, trusted: true })
  const [before, ...behind] = await engine.tokenize(['', ...texts].map(part))
  return behind.map((ids) => {
    if (!before!.every((id, i) => id === ids[i])) return undefined
    const own = ids.subarray(before!.length)
    return engine.areOrdinary(own).every(Boolean) ? [...own] : undefined
  })
}
