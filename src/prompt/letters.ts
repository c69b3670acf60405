/**
 * The wording of the readout `letters@1`: a state and a question as the model reads them.
 *
 * Rules
 *   1. Changing any of these texts makes a new version.
 *   2. Names of questions never appear: renaming a question must not move its answer.
 *   3. One option is one line. A name or description with a line break in it, or with nothing
 *      to see at one of its ends, is written as a JSON string, so that no text can pass for
 *      another option. Instructions are the question itself and may have any number of lines.
 *
 * @module
 */

import { entriesOf, stringifyJson } from '../api/json.js'
import type { Json } from '../api/json.js'
import type { ChoiceQuestion, NoulQuestion, ScoreQuestion } from '../decide/types.js'

export const lettersVersion = 'letters@1'

/** A string as it is, anything else as compact JSON in the caller's order. */
export function stateText(state: Json): string {
  return typeof state === 'string' ? state : stringifyJson(state)
}

/**
 * @param labels - At least as many as there are options.
 * @example
 * ```text
 * Which team should handle this?
 *
 * Options:
 * A: billing - payments and invoices
 * B: support
 *
 * Answer with only the letter of the best option.
 * ```
 */
export function choiceText(question: ChoiceQuestion, labels: readonly string[]): string {
  const options = entriesOf(question.criteria)
  const lines = options.map(([name, description], i) => {
    const line = `${labels[i]}: ${lineText(name)}`
    return isBlank(description) ? line : `${line} - ${lineText(description)}`
  })
  return paragraphs(
    instructionText(question.instructions),
    `Options:\n${lines.join('\n')}`,
    `Answer with only the ${labelWord(labels, options.length)} of the best option.`,
  )
}

/** @param labels - At least as many as there are levels. */
export function scoreText(question: ScoreQuestion, labels: readonly string[]): string {
  const levels = question.criteria
  const lines = levels.map((level, i) => {
    const text = isBlank(level) ? `level ${i + 1} of ${levels.length}` : lineText(level)
    return `${labels[i]}: ${text}`
  })
  return paragraphs(
    instructionText(question.instructions),
    `Levels, from the lowest to the highest:\n${lines.join('\n')}`,
    `Answer with only the ${labelWord(labels, levels.length)} of the level that fits best.`,
  )
}

/** For models that can say yes and no in one token. */
export function noulText(question: NoulQuestion): string {
  const meanings: string[] = []
  const { true: yes, false: no } = question.criteria ?? {}
  if (!isBlank(yes)) meanings.push(`Yes: ${lineText(yes)}`)
  if (!isBlank(no)) meanings.push(`No: ${lineText(no)}`)
  return paragraphs(
    instructionText(question.instructions),
    meanings.join('\n'),
    'Answer with only Yes or No.',
  )
}

/** For all other models: the first label is yes, the second no. */
export function noulChoiceText(question: NoulQuestion, labels: readonly string[]): string {
  const { true: yes = null, false: no = null } = question.criteria ?? {}
  const { instructions = null } = question
  return choiceText({ type: 'choice', instructions, criteria: { Yes: yes, No: no } }, labels)
}

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

function instructionText(instructions: Json | undefined): string {
  if (isBlank(instructions)) return ''
  return typeof instructions === 'string' ? instructions : stringifyJson(instructions)
}

function isBlank(value: Json | undefined): value is null | '' | undefined {
  return value === undefined || value === null || value === ''
}

function labelWord(labels: readonly string[], count: number): string {
  return labels.slice(0, count).every((label) => label.length === 1) ? 'letter' : 'code'
}

// All that Unicode calls a line break, as some model has read each of them as one.
const lineBreak = /[\n\v\f\r\u0085\u2028\u2029]/
const unescapedLineBreaks = /[\u0085\u2028\u2029]/g

/** A value on one line (rule 3). */
function lineText(value: Json): string {
  if (typeof value === 'string' && value !== '' && value.trim() === value) {
    if (!lineBreak.test(value)) return value
  }
  // JSON leaves these three as they are.
  return stringifyJson(value).replace(
    unescapedLineBreaks,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
