/**
 * Where a prompt is cut between state and question.
 *
 * The two are tokenized apart, and models were trained on the whole text. Tokenizers of GPT-2's
 * kind read the last of several line breaks as a token of its own, as it belongs to the word behind
 * it; SentencePiece's would put a space before the question; others read all line breaks as one
 * token, which belongs to the state.
 *
 * @module
 */

import type { Engine, PromptPart } from '../engine/types.js'
import type { Layout } from './plain-layout.js'

/** Last characters of a state: some form one token with the text behind them. */
export const stateEndings = ['', '.', '}', '"', '\n']

/** A question and, but for its end, a state. */
const [state, question] = ['The parcel came two weeks late', 'Did the parcel come in time?']

/**
 * Moves the end of the text between state and question to the question, where only that gives the
 * tokens of the whole text.
 *
 * @returns The layout itself if nothing has to be moved, or no cut gives those tokens.
 */
export async function cutAsWhole(engine: Engine, layout: Layout): Promise<Layout> {
  const { between, turn } = layout
  if (turn) return layout
  const pairs = stateEndings.map((end) => [state + end, between + question] as const)
  const ends = Array.from({ length: between.length + 1 }, (_, end) => end)
  const end = await lastCut(engine, pairs, ends)
  if (end === undefined || end === between.length) return layout
  return { ...layout, between: between.slice(0, end), lead: between.slice(end) }
}

/**
 * The last of some places in texts at which all of them may be cut, so that they have the same
 * tokens as without the cut.
 *
 * @param pairs - Texts, each as a text that is not cut and the one behind it.
 * @param ends - Places in the texts behind, ascending.
 */
export async function lastCut(
  engine: Engine,
  pairs: readonly (readonly [before: string, behind: string])[],
  ends: readonly number[],
): Promise<number | undefined> {
  const part = (text: string): PromptPart => ({ text, trusted: false })
  for (const end of ends.toReversed()) {
    const asked = pairs.flatMap(([before, behind]) => [
      part(before + behind),
      part(before + behind.slice(0, end)),
      part(behind.slice(end)),
    ])
    const tokens = await engine.tokenize(asked)
    if (pairs.every((_, i) => isSame(tokens[3 * i]!, tokens.slice(3 * i + 1, 3 * i + 3)))) {
      return end
    }
  }
  return undefined
}

/** Whether a text's tokens are those of its parts. */
export function isSame(whole: Int32Array, parts: readonly Int32Array[]): boolean {
  const joined = parts.flatMap((ids) => [...ids])
  return joined.length === whole.length && joined.every((id, i) => id === whole[i])
}
