/**
 * How an answer is read from the logits of a question's suffixes: data that a readout makes once
 * per question, and that `option-logits.ts` evaluates.
 *
 * @module
 */

/** What was measured behind one suffix. */
export interface Measurement {
  /** Raw logits of its candidates, in their order. */
  readonly logits: ArrayLike<number>
  /** Log-sum-exp over the whole vocabulary, nats; of no meaning without candidates. */
  readonly vocabulary: number
  /** Tokens of the whole vocabulary that are likelier than the likeliest candidate. */
  readonly rank?: number
}

/** One suffix, whose candidates are the options' labels. The common case. */
export interface LabelReading {
  readonly kind: 'labels'
  /**
   * How many candidates each option has, one after the other; no before yes for a noul, and of one
   * that is rated an option for each rating, from no to yes. Empty if there is only one option,
   * which needs no model: its suffix has no candidates.
   */
  readonly forms: readonly number[]
  /** What an option with several forms counts with: their sum (by default) or the likeliest. */
  readonly pick?: 'likeliest'
}

/**
 * Answers that take several tokens or several questions: an option's probability is a sum over
 * its forms, and that of a form the product of its steps.
 */
export interface StepReading {
  readonly kind: 'steps'
  /** Suffixes in all, at least 1. */
  readonly suffixes: number
  /** Shape [options][forms][steps]; no form and no list of steps is empty. */
  readonly options: readonly (readonly (readonly Step[])[])[]
  /**
   * What a step's probability is relative to: the candidates of its suffix (a question with a
   * closed list of answers), or the vocabulary (a token of a text).
   */
  readonly over: 'candidates' | 'vocabulary'
}

export interface Step {
  /** Which of the reading's suffixes, from 0. */
  readonly suffix: number
  /** Which of that suffix's candidates, from 0. */
  readonly candidate: number
}

/** The same question in several orders of its options, of which the answer is the mean. */
export interface OrdersReading {
  readonly kind: 'orders'
  /** What the mean is taken of: log-probabilities (by default) or probabilities. */
  readonly mean?: 'probabilities'
  readonly orders: readonly {
    /** Where each option of the caller's order stands in this one. */
    readonly places: readonly number[]
    readonly reading: LabelReading | StepReading
  }[]
}

export type Reading = LabelReading | StepReading | OrdersReading
