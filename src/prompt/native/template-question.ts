/**
 * A question as a decision model's template gets it, and examples to try templates with.
 *
 * @module
 */

import type { Question } from '../../decide/types.js'

export interface TemplateQuestion {
  /** Always {@link questionId}: the caller's name must not move the answer. */
  readonly id: string
  readonly type: Question['type']
  /** '' without instructions. */
  readonly instructions: string
  readonly options: readonly TemplateOption[]
}

export interface TemplateOption {
  /** An option's name, a level's number from 0, or `true` and `false`. */
  readonly key: string
  readonly description: string | null
  /** The model's answer for it. */
  readonly label: string
}

export const questionId = 'question'

/** Stands for a caller's text in the examples. */
export const callerText = 'oiText9c41e7'

/**
 * Questions of each type, with and without descriptions, with numbers of options around those at
 * which labels change.
 *
 * @param most - The most options.
 */
export function exampleQuestions(most: number): readonly TemplateQuestion[] {
  const counts = [1, 2, 26, 27, most].filter((count) => count <= most)
  return [
    noul(callerText, null),
    noul(callerText, callerText),
    noul('', callerText),
    ...counts.flatMap((count) => [
      list('choice', count, null),
      list('choice', count, callerText),
      list('score', count, callerText),
    ]),
  ]
}

function noul(instructions: string, description: string | null): TemplateQuestion {
  const options = ['true', 'false'].map((key, i) => ({ key, description, label: 'AB'[i]! }))
  return { id: questionId, type: 'noul', instructions, options }
}

function list(
  type: 'choice' | 'score',
  count: number,
  description: string | null,
): TemplateQuestion {
  const options = Array.from({ length: count }, (_, i) => ({
    key: type === 'score' ? String(i) : callerText,
    description,
    label: 'A',
  }))
  return { id: questionId, type, instructions: callerText, options }
}
