/**
 * Adds a case to Compare from another page: what Compare keeps is in this tab.
 *
 * @module
 */

import { type DraftQuestions, noQuestions, writtenQuestions } from '../playground/draft.js'
import { keep, readKept } from '../store.js'
import { type Case, newCase } from './cases.js'

export const keptCases = 'oi-compare-cases'
export const keptQuestions = 'oi-compare-questions'

/** The number of cases in Compare that are asked other questions. */
export function casesOfOthers(questions: DraftQuestions): number {
  const cases = readKept<readonly Case[]>(keptCases, [])
  const asked = writtenQuestions(readKept(keptQuestions, noQuestions)).json
  return asked === writtenQuestions(questions).json ? 0 : cases.length
}

/** Adds a case, in place of those that are asked other questions. */
export function addCase(state: Pick<Case, 'form' | 'state'>, questions: DraftQuestions): void {
  const others = casesOfOthers(questions) > 0
  const cases = others ? [] : readKept<readonly Case[]>(keptCases, [])
  keep(keptQuestions, questions)
  keep(keptCases, [...cases, newCase(state)])
}
