/**
 * Labelled texts to rows for `oi eval`: one choice between intents for each text.
 *
 * @module
 */

import type { Random } from '../../test/helpers/random.js'
import type { LabelledSet, LabelledText } from './sets.js'

interface RowOptions {
  /** Options of each question, with the right one; default: all intents. */
  readonly options?: number | undefined
  /** Whether texts that fit no intent are rows, and "none" is an option. */
  readonly outOfScope: boolean
  /** Rows at most; default: all. */
  readonly limit?: number | undefined
  /** Decides the order of rows, and the options and their order. */
  readonly random: Random
}

/** Lines of JSON, without their ends. */
export function* rowsOf(set: LabelledSet, options: RowOptions): Generator<string> {
  const { outOfScope, limit = Infinity, random } = options
  const none = set.outOfScope
  const wanted = set.texts.filter(({ intent }) => outOfScope || intent !== none)
  // The sets are sorted by intent: the first rows must come from all intents.
  for (const text of shuffled(wanted, random).slice(0, limit)) {
    yield JSON.stringify(rowOf(set, text, options))
  }
}

function rowOf(
  { intents, outOfScope: none, instructions }: LabelledSet,
  { text, intent }: LabelledText,
  { options, outOfScope, random }: RowOptions,
): object {
  // Out of scope is always an option, or never: its absence would be a hint.
  const always = none !== undefined && outOfScope ? [none] : []
  const others = intents.filter((name) => name !== intent && name !== none)
  const named = intents.filter((name) => name !== none)
  const fixed = [...new Set([intent, ...always])]
  const names =
    options === undefined
      ? named
      : shuffled(
          [
            ...fixed.filter((name) => name !== none),
            ...shuffled(others, random).slice(0, Math.max(0, options - fixed.length)),
          ],
          random,
        )
  const criteria = Object.fromEntries([
    ...names.map((name) => [name, null] as const),
    ...always.map((name) => [name, 'none of the other options fits'] as const),
  ])
  return {
    state: text,
    questions: { intent: { type: 'choice', instructions, criteria } },
    expected: { intent },
  }
}

/** Fisher–Yates shuffle. */
function shuffled<T>(values: readonly T[], random: Random): T[] {
  const all = [...values]
  for (let i = all.length - 1; i > 0; i--) {
    const j = random.integer(i + 1)
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}
