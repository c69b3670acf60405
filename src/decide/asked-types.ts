/**
 * Requests as programs write them, for the library and the client: the types of the answers follow
 * from the questions.
 *
 * Types only.
 *
 * @module
 */

import type { ChoiceAnswer, DecideRequest, Decision, NoulAnswer, ScoreAnswer } from './types.js'

/** A JSON value as `JSON.stringify` takes it, so that objects of any interface are accepted. */
export type JsonInput = string | number | boolean | null | object

export interface NoulQuestion {
  readonly type: 'noul'
  readonly instructions?: JsonInput
  readonly criteria?: { readonly true?: JsonInput; readonly false?: JsonInput } | null
}

export interface ChoiceQuestion {
  readonly type: 'choice'
  readonly instructions?: JsonInput
  /**
   * Option name -> description; `null` and `""` add nothing to the name. 1 to 255 options.
   * JavaScript puts names like `"7"` before all others: texts (`decideText` of the client,
   * `parseJson` of the library) keep their order.
   */
  readonly criteria: Readonly<Record<string, JsonInput>>
}

export interface ScoreQuestion {
  readonly type: 'score'
  readonly instructions?: JsonInput
  /** Level descriptions, lowest first. 1 to 255 levels. */
  readonly criteria: readonly Exclude<JsonInput, null>[]
}

export type Question = NoulQuestion | ChoiceQuestion | ScoreQuestion

/** Questions under the caller's own names, which the model never sees. */
export type Questions = Readonly<Record<string, Question>>

/** The answer to a choice between options of known names. */
export interface NamedChoiceAnswer<Name extends string> extends ChoiceAnswer {
  readonly choice: Name
  readonly probabilities: Readonly<Record<Name, number>>
}

type NameOf<Criteria> = `${Extract<keyof Criteria, string | number>}`

export type AnswerOf<Q extends Question> = Q extends NoulQuestion
  ? NoulAnswer
  : Q extends ChoiceQuestion
    ? NamedChoiceAnswer<NameOf<Q['criteria']>>
    : ScoreAnswer

/** One answer for each question, under its name. */
export type AnswersOf<Q extends Questions> = { readonly [Name in keyof Q]: AnswerOf<Q[Name]> }

/** A request to the library: as the body of `POST /v1/systemone`. */
export interface AskRequest<Q extends Questions = Questions> extends Pick<DecideRequest, 'model'> {
  /** What the questions are about. */
  readonly state: JsonInput
  readonly questions: Q
  /** As in the body of a request. */
  readonly images?: JsonInput
  readonly image?: JsonInput
  readonly assets?: JsonInput
}

/** A decision of the library, with an answer for each question. */
export interface DecisionOn<Q extends Questions = Questions> extends Omit<Decision, 'answers'> {
  readonly answers: AnswersOf<Q>
}
