/**
 * Limits on the numbers of questions, options and levels in a request, as every reader of requests
 * and every model checks them.
 *
 * @module
 */

import type { DecideRequest, Question } from '../decide/types.js'
import type { OiError } from '../errors.js'
import { isJsonObject, keysOf } from './json.js'
import { mostOptions } from './limits.js'
import { failure, placeOf } from './place.js'

export interface RequestLimits {
  readonly maxQuestions: number
  /** Options of a choice; more than 255 are never accepted. */
  readonly maxOptions: number
  /** Levels of a score; more than 255 are never accepted. */
  readonly maxLevels: number
}

/** Options of a choice, levels of a score, 2 of a noul. */
export function optionCount(question: Question): number {
  if (question.type === 'noul') return 2
  return question.type === 'choice' ? keysOf(question.criteria).length : question.criteria.length
}

/**
 * Checks the number of questions, options and levels against a model's limits, after their form.
 *
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE`.
 */
export function requireWithin(questions: DecideRequest['questions'], limits: RequestLimits): void {
  const names = keysOf(questions)
  requireCount(names.length, limits.maxQuestions, 'questions', 'questions')
  // Readers accept no more than that: most models need not count.
  if (limits.maxOptions >= mostOptions && limits.maxLevels >= mostOptions) return
  for (const name of names) {
    const question = questions[name]!
    if (question.type === 'noul' || optionCount(question) <= mostOf(question.type, limits)) continue
    requireFewOptions(question, limits, placeOf(placeOf('questions', name), 'criteria'))
  }
}

/** @param place - Of the question's criteria. @throws As {@link requireCount}. */
export function requireFewOptions(
  { type, criteria }: { readonly type: string; readonly criteria?: unknown },
  limits: RequestLimits,
  place: string,
): void {
  if (type === 'choice' && isJsonObject(criteria)) {
    requireCount(keysOf(criteria).length, mostOf(type, limits), place, 'options')
  }
  if (type === 'score' && Array.isArray(criteria)) {
    requireCount(criteria.length, mostOf(type, limits), place, 'levels')
  }
}

/** @param most - The labels of a model, for the options or levels of this question. */
export function tooManyOptions(name: string, question: Question, most: number): OiError {
  const noun = question.type === 'score' ? 'levels' : 'options'
  const rule = `expected 1 to ${most} ${noun}, got ${optionCount(question)}`
  return failure('ERR_REQUEST_UNACCEPTABLE', placeOf(placeOf('questions', name), 'criteria'), rule)
}

function mostOf(type: 'choice' | 'score', { maxOptions, maxLevels }: RequestLimits): number {
  return Math.min(type === 'choice' ? maxOptions : maxLevels, mostOptions)
}

/**
 * None is the wrong shape (422); too many is unacceptable (400).
 *
 * @throws {@link OiError} `ERR_BODY_INVALID` or `ERR_REQUEST_UNACCEPTABLE`.
 */
export function requireCount(count: number, most: number, place: string, noun: string): void {
  if (count >= 1 && count <= most) return
  const code = count === 0 ? 'ERR_BODY_INVALID' : 'ERR_REQUEST_UNACCEPTABLE'
  throw failure(code, place, `expected 1 to ${most} ${noun}, got ${count}`)
}
