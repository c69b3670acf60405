/**
 * Questions as flags of `oi ask`.
 *
 *     --noul   [name=]question
 *     --choice [name=]question=option[:description],option[:description],…
 *     --score  [name=]question=lowest level,…,highest level
 *
 * Rules
 *   1. A name is one word (letters, digits, `_`, `-`) before a `=`; a question without a name is
 *      named after its place: q1, q2, …
 *   2. The first `=` behind the name ends the question, the first `:` of an option its name.
 *   3. `\` makes the character behind it literal. Spaces around a piece are removed.
 *
 * @module
 */

import { objectFromEntries } from '../../api/json.js'
import type { Question } from '../../decide/types.js'
import { OiError } from '../../errors.js'

export interface NamedQuestion {
  /** Undefined: named after its place. */
  readonly name: string | undefined
  readonly question: Question
}

export const questionFlags = {
  noul: {
    placeholder: '[name=]question',
    description: 'ask for yes or no',
    example: '"Is it urgent?"',
  },
  choice: {
    placeholder: '[name=]question=options',
    description: 'ask for one of the options, separated by commas, each name or name:description',
    example: '"Which team?=billing,technical:faults of the product,other"',
  },
  score: {
    placeholder: '[name=]question=levels',
    description: 'ask for a level, separated by commas, lowest first',
    example: '"How urgent?=can wait,this week,today"',
  },
} as const

export type QuestionType = keyof typeof questionFlags

/**
 * Reads the value of one flag.
 *
 * @throws {@link OiError} `ERR_CONFIG` with the flag, what is missing, and an example.
 * @example
 * ```ts
 * readQuestionFlag('score', 'rush=How urgent?=low,high')
 * // { name: 'rush', question: { type: 'score', instructions: 'How urgent?', criteria: ['low', 'high'] } }
 * ```
 */
export function readQuestionFlag(type: QuestionType, value: string): NamedQuestion {
  const { name, rest } = readName(type, value)
  if (type === 'noul') {
    const instructions = plain(rest)
    if (instructions === '') throw failure(type, 'the question is empty')
    return { name, question: { type, instructions } }
  }

  const [asked, list] = cut(rest, '=')
  const instructions = plain(asked)
  const what = type === 'choice' ? 'options' : 'levels'
  if (instructions === '') throw failure(type, 'the question is empty')
  if (list === undefined)
    throw failure(type, `there is no "=" with the ${what} behind the question`)
  const pieces = split(list, ',')
  if (pieces.some((piece) => plain(piece) === ''))
    throw failure(type, `one of the ${what} is empty`)
  if (type === 'score')
    return { name, question: { type, instructions, criteria: pieces.map(plain) } }

  const options = pieces.map((piece) => {
    const [option, description = ''] = cut(piece, ':')
    return [plain(option), plain(description)] as const
  })
  if (options.some(([option]) => option === '')) {
    throw failure(type, 'one of the options has no name')
  }
  const twice = options.find(([option], i) => options.findIndex(([other]) => other === option) < i)
  if (twice) throw failure(type, `there are two options "${twice[0]}"`)
  return { name, question: { type, instructions, criteria: objectFromEntries(options) } }
}

/** A choice and a score need a `=` of their own: the text before their only `=` is no name. */
function readName(type: QuestionType, value: string): { name: string | undefined; rest: string } {
  const [word, rest] = cut(value, '=')
  const named =
    rest !== undefined &&
    /^\s*[\w-]+\s*$/.test(word) &&
    (type === 'noul' || cut(rest, '=')[1] !== undefined)
  return named ? { name: word.trim(), rest } : { name: undefined, rest: value }
}

/** The texts before and behind the first unescaped `mark`. */
function cut(text: string, mark: string): [string, string | undefined] {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === mark) return [text.slice(0, at), text.slice(at + 1)]
  }
  return [text, undefined]
}

function split(text: string, mark: string): string[] {
  const [first, rest] = cut(text, mark)
  return rest === undefined ? [first] : [first, ...split(rest, mark)]
}

function plain(text: string): string {
  return text.trim().replace(/\\(.)/gs, '$1')
}

function failure(type: QuestionType, reason: string): OiError {
  return new OiError(
    'ERR_CONFIG',
    `--${type}: ${reason}. Write it as --${type} ${questionFlags[type].example}`,
  )
}
