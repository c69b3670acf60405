/**
 * The texts of a question and its options in a pass through a model of hidden states (README.md).
 *
 * @module
 */

import { entriesOf } from '../../api/json.js'
import type { Json } from '../../api/json.js'
import type { Question } from '../../decide/types.js'
import { instructionText, isBlank } from '../letters.js'

/** The text of the question. */
export function questionText({ instructions }: Question): string {
  return instructionText(instructions)
}

/**
 * One text for each option, in the order of the reading: no before yes for a noul.
 *
 * @param reversed - True if levels are given highest first; a level without a text keeps its
 *   number.
 */
export function optionTexts(question: Question, reversed: boolean): string[] {
  if (question.type === 'choice') return entriesOf(question.criteria).map(described)
  if (question.type === 'noul') {
    const { true: yes = null, false: no = null } = question.criteria ?? {}
    return [described(['no', no]), described(['yes', yes])]
  }
  const count = question.criteria.length
  return question.criteria.map((level, i) =>
    isBlank(level) ? `level ${reversed ? count - i : i + 1} of ${count}` : instructionText(level),
  )
}

/** A question with all of its options, each once, as one text: what of it is counted. */
export function wholeText(question: Question): string {
  const { instructions, type, criteria } = question
  const options =
    type === 'noul'
      ? [criteria?.false, criteria?.true].map((text) => instructionText(text))
      : optionTexts(question, false)
  return joined(instructionText(instructions), ...options)
}

/** Texts as one, with a blank between them; each may be empty. */
export function joined(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(' ')
}

function described([name, description]: readonly [string, Json]): string {
  return isBlank(description) ? name : `${name}: ${instructionText(description)}`
}
