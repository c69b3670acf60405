/**
 * A question of more options than labels, asked in two steps: which group has the best option, and
 * which member of each group is best.
 *
 * @module
 */

import type { Step } from '../scoring/types.js'
import type { Asked, AskedSuffix } from './asked.js'
import * as letters from './letters.js'
import type { LettersVersion, ListQuestion } from './letters.js'

/**
 * Reads p(option) = p(group) p(member | group), all suffixes in one pass. Each suffix repeats the
 * question's instructions, so there are as few groups as possible. The first suffix has all
 * options; the others together have all of them once more.
 *
 * @param question - With √n labels or more, it may have n options.
 * @param labels - Texts, two or more.
 * @param tokens - Their tokens.
 * @param reversed - Whether levels are given highest first.
 * @param version - The wording.
 */
export function askInGroups(
  question: ListQuestion,
  labels: readonly string[],
  tokens: Int32Array,
  reversed = false,
  version: LettersVersion = letters.lettersOne,
): Asked {
  const groups = divide(version.optionTexts(question, labels, reversed), labels.length)
  const suffixes: AskedSuffix[] = [
    {
      text: letters.groupsText(question, groups, labels, reversed),
      candidates: tokens.subarray(0, groups.length),
    },
  ]
  const options = groups.flatMap((members, candidate): Step[][][] => {
    const group: Step = { suffix: 0, candidate }
    // A group of one needs no question.
    if (members.length === 1) return [[[group]]]
    const suffix = suffixes.length
    suffixes.push({
      text: letters.listText(question, members, labels, reversed),
      candidates: tokens.subarray(0, members.length),
    })
    return members.map((_, member) => [[group, { suffix, candidate: member }]])
  })
  return {
    suffixes,
    reading: { kind: 'steps', suffixes: suffixes.length, options, over: 'candidates' },
  }
}

/**
 * The fewest groups of at most `most` members. Their sizes differ by one at most, larger groups
 * first; the order is kept.
 */
export function divide<T>(items: readonly T[], most: number): T[][] {
  const count = Math.ceil(items.length / most)
  const least = Math.floor(items.length / count)
  const larger = items.length % count
  return Array.from({ length: count }, (_, i) => {
    const begin = i * least + Math.min(i, larger)
    return items.slice(begin, begin + least + (i < larger ? 1 : 0))
  })
}
