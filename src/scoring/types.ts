/**
 * How an answer is read from the logits of a question's suffixes: data that a readout makes once
 * per question, and that `option-logits.ts` evaluates.
 *
 * @module
 */

import type { Question } from '../decide/types.js'

/** A model's own temperature for questions of one type with `from` to `to` options; 2 for a noul. */
export interface Temperature {
  readonly type: Question['type']
  readonly from: number
  /** Infinity in the last bucket. */
  readonly to: number
  /** Greater than 0. */
  readonly temperature: number
  /** Nats, added to the logit of a noul's yes. Default: 0. */
  readonly bias?: number
}

/** The measurement behind one suffix. */
export interface Measurement {
  /** Raw logits of its candidates, in their order. */
  readonly logits: ArrayLike<number>
  /** Log-sum-exp over the whole vocabulary, nats; meaningless without candidates. */
  readonly vocabulary: number
  /** Tokens of the whole vocabulary that are likelier than the likeliest candidate. */
  readonly rank?: number
}

/** The common case: one suffix, whose candidates are the options' labels. */
export interface LabelReading {
  readonly kind: 'labels'
  /**
   * The number of candidates of each option, in order: no before yes for a noul; for a rated noul,
   * one option per rating, from no to yes. Empty for a single option, which needs no model: its
   * suffix has no candidates.
   */
  readonly forms: readonly number[]
  /** How the forms of an option are combined: their sum (default) or the likeliest. */
  readonly pick?: 'likeliest'
}

/**
 * Each option has a suffix of its own, whose one candidate is the option's logit: nothing says how
 * likely it is beside anything else.
 */
export interface ScoreReading {
  readonly kind: 'scores'
  /** For each option, the index of its suffix; null for an option whose logit is 0. */
  readonly options: readonly (number | null)[]
}

/** The same question in several orders of its options; the answer is their mean. */
export interface OrdersReading {
  readonly kind: 'orders'
  /** The mean of log-probabilities (default) or of probabilities. */
  readonly mean?: 'probabilities'
  readonly orders: readonly {
    /** The place in this order of each option, by the caller's order. */
    readonly places: readonly number[]
    readonly reading: LabelReading | ScoreReading
  }[]
}

export type Reading = LabelReading | ScoreReading | OrdersReading
