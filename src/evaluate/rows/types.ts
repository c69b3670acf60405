/**
 * Labelled requests, and the answers of a model.
 *
 * @module
 */

import type { Decision, DecideRequest, Question } from '../../decide/types.js'
import type { FileRecord } from './records.js'

/** The right answer: yes or no, an option's name, or a level counted from 0. */
export type Expected = boolean | string | number

/** One row of a file: a request. */
export interface AskedRow {
  /** Its line in the file, from 1; with `unit`, its place in a JSON array, from 1. */
  readonly line: number
  readonly unit?: 'item' | undefined
  readonly request: DecideRequest
  /** As it stands in the file. */
  readonly record: FileRecord
}

/** One row of a labelled file: a request, and its right answers. */
export interface LabelledRow extends AskedRow {
  /** By the names of the questions; a question without a right answer is asked but not counted. */
  readonly expected: Readonly<Record<string, Expected>>
}

/** The part of a decision that is read, whether from a model here or from a server. */
export type Reply = Omit<Decision, 'cached_tokens' | 'timings'>

/** One answered question whose right answer is known. */
export interface Observation {
  /** Its name in the request. */
  readonly question: string
  readonly type: Question['type']
  /**
   * Shape [n], n >= 2, nats, known up to a constant: before temperature and bias. For a noul: no,
   * then yes.
   */
  readonly logits: readonly number[]
  /** Shape [n], as answered. */
  readonly probabilities: readonly number[]
  /** Index of the right option. */
  readonly right: number
  /** 0 to 1. */
  readonly labelMass: number
}
