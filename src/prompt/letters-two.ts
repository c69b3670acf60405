/**
 * The readout `letters@2`: the wording of `letters@1`, with a visible end of the state, and options
 * that cannot be mistaken for labels or for one another.
 *
 * Rules, besides those of `letters.ts`
 *   1. The state stands between two fences of backticks, longer than any run in it: no state can
 *      end itself and go on as a question.
 *   2. If one name of a choice could be read as a label of its list (`A`, `b: none`), has the
 *      separator ` - ` in it, or looks quoted, all names of the question are JSON strings: a single
 *      name that looks different would attract the model. So no two options have the same line.
 *   3. Descriptions and levels that could be read as labels are JSON strings; so are strings among
 *      levels that would have the same line.
 *   4. A criterion of a noul that could itself be read as an answer (`No`) is a JSON string, and so
 *      is the other criterion then.
 *
 * It is chosen by its name (`--readout letters@2`). The default is `letters@1`, as the two have not
 * been compared on a model that was trained to follow instructions.
 *
 * @module
 */

import { entriesOf } from '../api/json.js'
import type { Json } from '../api/json.js'
import type { NoulQuestion } from '../decide/types.js'
import { ambiguousOptions } from './distinct-lines.js'
import {
  isBlank,
  jsonLine,
  type LettersVersion,
  lineText,
  type ListQuestion,
  listText,
  noulAsChoice,
  noulText,
} from './letters.js'

const separator = ' - '

/** Each option or level on its line, without a label; more labels than lines do not matter. */
function optionTexts(
  question: ListQuestion,
  labels: readonly string[],
  reversed = false,
): string[] {
  if (question.type === 'score') return levelTexts(question.criteria, labels, reversed)
  const entries = entriesOf(question.criteria)
  const isLabel = labelTest(labels.slice(0, entries.length))
  const asJson = entries.some(([name]) => isUnclear(name, isLabel))
  return entries.map(([name, description]) => {
    const line = asJson ? jsonLine(name) : name
    return isBlank(description) ? line : line + separator + clearText(description, isLabel)
  })
}

const choiceText: LettersVersion['choiceText'] = (question, labels) =>
  listText(question, optionTexts(question, labels), labels)

export const lettersTwo: LettersVersion = {
  name: 'letters@2',
  aroundState: (state) => {
    const fence = fenceFor(state)
    return { before: `State:\n${fence}\n`, behind: `\n${fence}` }
  },
  choiceText,
  scoreText: (question, labels, reversed) =>
    listText(question, optionTexts(question, labels, reversed), labels, reversed),
  noulText: (question, reversed) => noulText(question, reversed, noulLine(question)),
  noulChoiceText: (question, labels, reversed) =>
    choiceText(noulAsChoice(question, reversed), labels),
}

function levelTexts(levels: readonly Json[], labels: readonly string[], reversed: boolean) {
  const count = levels.length
  const isLabel = labelTest(labels.slice(0, count))
  const allAsJson = levels.some((level) => typeof level === 'string' && isLabel(level))
  const lineOf = (level: Json, i: number, asJson: boolean) => {
    if (isBlank(level)) return `level ${reversed ? count - i : i + 1} of ${count}`
    return asJson || allAsJson ? jsonLine(level) : lineText(level)
  }
  const ambiguous = ambiguousOptions(levels, lineOf)
  return levels.map((level, i) => lineOf(level, i, ambiguous[i]!))
}

/** Whether a name is unclear by rule 2. */
function isUnclear(name: string, isLabel: (text: string) => boolean): boolean {
  return (
    lineText(name) !== name ||
    name.startsWith('"') ||
    // Also a name whose end forms a separator with the text behind it.
    (name + separator).indexOf(separator) !== name.length ||
    isLabel(name)
  )
}

function clearText(value: Json, isLabel: (text: string) => boolean): string {
  return typeof value === 'string' && isLabel(value) ? jsonLine(value) : lineText(value)
}

/** How the texts of a noul are written (rule 4). */
function noulLine({ criteria }: NoulQuestion): (value: Json) => string {
  const isAnswer = labelTest(['Yes', 'No'])
  const texts = [criteria?.true, criteria?.false]
  return texts.some((text) => typeof text === 'string' && isAnswer(text)) ? jsonLine : lineText
}

/** Whether a text begins like one of these labels: `a`, `A: …`, `A) …`, `A. …`. */
function labelTest(labels: readonly string[]): (text: string) => boolean {
  const known = new Set(labels.map((label) => label.toLowerCase()))
  return (text) => {
    const [begun] = /^[^\s:.)]*/.exec(text)!
    const ends = begun.length === text.length || text[begun.length] !== ' '
    return ends && known.has(begun.toLowerCase())
  }
}

/** Longer than any run of backticks in the text, at least three. */
function fenceFor(text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  return '`'.repeat(longest + 1)
}
