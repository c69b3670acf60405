/**
 * What a text adds to the tokens before it, at the very place where an answer is read.
 *
 * @module
 */

import type { Engine, PromptPart } from '../engine/types.js'

/**
 * For each text, its tokens behind the tail, or undefined if that is not the tail's own tokens and
 * more of ordinary text: a text can change how what stands before it is tokenized.
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
