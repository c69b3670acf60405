/**
 * How many answers a question has to choose from.
 *
 * @module
 */

import type { Question } from '../decide/types.js'
import { keysOf } from './json.js'

/** Options of a choice, levels of a score, 2 of a noul. */
export function optionCount(question: Question): number {
  if (question.type === 'noul') return 2
  return question.type === 'choice' ? keysOf(question.criteria).length : question.criteria.length
}
