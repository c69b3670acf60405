/**
 * The wording of the readout `letters@1`: a state and a question as the model reads them.
 *
 * Rules
 *   1. A change of any of these texts makes a new version.
 *   2. Names of questions never appear: renaming a question must not move its answer.
 *   3. One option is one line. A name or description with a line break in it, or with invisible
 *      characters at one of its ends, is written as a JSON string, so that no text can pass for
 *      another option. Instructions are the question itself and may have any number of lines.
 *
 * @module
 */

import { entriesOf, stringifyJson } from '../api/json.js'
import type { Json } from '../api/json.js'
import type { ChoiceQuestion, NoulQuestion, ScoreQuestion } from '../decide/types.js'

/**
 * The wording of questions. Labels: at least as many as options or levels. Reversed: levels are
 * given highest first, and a noul's no stands before its yes.
 */
export interface Wording {
  choiceText(question: ChoiceQuestion, labels: readonly string[]): string
  scoreText(question: ScoreQuestion, labels: readonly string[], reversed?: boolean): string
  noulText(question: NoulQuestion, reversed?: boolean): string
  noulChoiceText(question: NoulQuestion, labels: readonly string[], reversed?: boolean): string
}

/** A version of the readout by letters: the wording, and the texts around the state. */
export interface LettersVersion extends Wording {
  /** As `letters@1`. */
  readonly name: string
  /** @param state - Its text, without images. @returns Plain text. */
  aroundState(state: string): { readonly before: string; readonly behind: string }
}

/** A string as it is, anything else as compact JSON in the caller's order. */
export function stateText(state: Json): string {
  return typeof state === 'string' ? state : stringifyJson(state)
}

/** A question of options or levels, one of which is the answer. */
export type ListQuestion = ChoiceQuestion | ScoreQuestion

/**
 * @param labels - At least as many as options.
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
  return listText(question, optionTexts(question), labels)
}

/**
 * @param labels - At least as many as levels.
 * @param reversed - Whether the criteria are given highest first; a level without a text keeps
 *   its number on the scale.
 */
export function scoreText(
  question: ScoreQuestion,
  labels: readonly string[],
  reversed = false,
): string {
  return listText(question, optionTexts(question, reversed), labels, reversed)
}

/**
 * Each option or level on its line, without a label.
 *
 * @param reversed - As for {@link scoreText}, here and below; ignored for a choice.
 */
export function optionTexts(question: ListQuestion, reversed = false): string[] {
  if (question.type === 'choice') {
    return entriesOf(question.criteria).map(([name, description]) => {
      const line = lineText(name)
      return isBlank(description) ? line : `${line} - ${lineText(description)}`
    })
  }
  const levels = question.criteria
  const count = levels.length
  return levels.map((level, i) => {
    const number = reversed ? count - i : i + 1
    return isBlank(level) ? `level ${number} of ${count}` : lineText(level)
  })
}

/**
 * A question about all or some of its options.
 *
 * @param options - From {@link optionTexts}.
 * @param labels - At least as many.
 */
export function listText(
  { type, instructions }: ListQuestion,
  options: readonly string[],
  labels: readonly string[],
  reversed = false,
): string {
  const heading = type === 'choice' ? 'Options' : `Levels, ${direction(reversed)}`
  const lines = options.map((option, i) => `${labels[i]}: ${option}`)
  return paragraphs(
    instructionText(instructions),
    `${heading}:\n${lines.join('\n')}`,
    `Answer with only the ${labelWord(labels, options.length)} of ${bestOf[type]}.`,
  )
}

const bestOf = { choice: 'the best option', score: 'the level that fits best' } as const

function direction(reversed: boolean): string {
  return reversed ? 'from the highest to the lowest' : 'from the lowest to the highest'
}

/**
 * For models that can say yes and no in one token.
 *
 * @param reversed - Whether the criterion of no stands before that of yes.
 * @param textOf - Writes a criterion.
 */
export function noulText(
  question: NoulQuestion,
  reversed = false,
  textOf: (value: Json) => string = lineText,
): string {
  const meanings: string[] = []
  const { true: yes, false: no } = question.criteria ?? {}
  if (!isBlank(yes)) meanings.push(`Yes: ${textOf(yes)}`)
  if (!isBlank(no)) meanings.push(`No: ${textOf(no)}`)
  if (reversed) meanings.reverse()
  return paragraphs(
    instructionText(question.instructions),
    meanings.join('\n'),
    'Answer with only Yes or No.',
  )
}

/** For all other models: the first label is yes, the second no; the other way round if reversed. */
export function noulChoiceText(
  question: NoulQuestion,
  labels: readonly string[],
  reversed = false,
): string {
  return choiceText(noulAsChoice(question, reversed), labels)
}

/** A noul as a choice between Yes and No, or if reversed between No and Yes. */
export function noulAsChoice(question: NoulQuestion, reversed = false): ChoiceQuestion {
  const { true: yes = null, false: no = null } = question.criteria ?? {}
  const { instructions = null } = question
  const criteria = reversed ? { No: no, Yes: yes } : { Yes: yes, No: no }
  return { type: 'choice', instructions, criteria }
}

function paragraphs(...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n')
}

export function instructionText(instructions: Json | undefined): string {
  if (isBlank(instructions)) return ''
  return typeof instructions === 'string' ? instructions : stringifyJson(instructions)
}

export function isBlank(value: Json | undefined): value is null | '' | undefined {
  return value === undefined || value === null || value === ''
}

/** The word for the first `count` labels. */
export function labelWord(labels: readonly string[], count: number): string {
  return labels.slice(0, count).every((label) => letter.test(label)) ? 'letter' : 'code'
}

const letter = /^\p{L}$/u

// All line breaks of Unicode, as some model reads each of them as one.
export const lineBreak = /[\n\v\f\r\u0085\u2028\u2029]/
const unescapedLineBreaks = /[\u0085\u2028\u2029]/g

/** A value on one line (rule 3). */
export function lineText(value: Json): string {
  if (typeof value === 'string' && value !== '' && value.trim() === value) {
    if (!lineBreak.test(value)) return value
  }
  return jsonLine(value)
}

/** Any value as JSON on one line. */
export function jsonLine(value: Json): string {
  // JSON does not escape these three.
  return stringifyJson(value).replace(
    unescapedLineBreaks,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

export const lettersOne: LettersVersion = {
  name: 'letters@1',
  aroundState: () => ({ before: '', behind: '' }),
  choiceText,
  scoreText,
  noulText: (question, reversed) => noulText(question, reversed),
  noulChoiceText,
}
