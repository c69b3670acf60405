/**
 * A readout: how one model is asked, and where its answers are read.
 *
 * @module
 */

import type { Json, JsonObject } from '../api/json.js'
import type { Orders } from '../api/orders.js'
import type { Steps } from '../api/turns.js'
import type { DecideRequest, Question, RequestImages } from '../decide/types.js'
import type { ScoreInput } from '../engine/types.js'
import type { Reading } from '../scoring/types.js'
import type { Temperature } from '../scoring/types.js'

/** How one question's answer is read. */
export interface Reader {
  readonly name: string
  readonly question: Question
  readonly reading: Reading
}

export interface Rendering {
  readonly input: ScoreInput
  /** One for each question, in order; its reading says how many suffixes it takes. */
  readonly readers: readonly Reader[]
}

export interface Readout {
  /** Name and version: `letters@1`. */
  readonly name: string
  /** Labels of a single token: two or more, or none. */
  readonly labels: readonly string[]
  /** The forms of no and of yes that are read, and summed up. */
  readonly noulForms: { readonly no: readonly string[]; readonly yes: readonly string[] }
  /** The most options of a choice and levels of a score, 2 to 255. */
  readonly maxOptions: number
  /** True if its prompts have no place for images, whatever the model sees. */
  readonly textOnly?: true
  /** True if it sets the orders of options itself; then no others are asked for. */
  readonly ownOrders?: true
  /** The default number of option orders for its model. Default 1. */
  readonly orders?: Orders
  /** Label or form of every known token that can be a candidate. */
  readonly tokenTexts: ReadonlyMap<number, string>
  /** Its own temperatures; a calibration is applied on top of them. */
  readonly temperatures?: readonly Temperature[]
  /** For a model whose answers are read from its hidden states: the facts of a pass. */
  readonly pass?: PassFacts
  /** What to know about its answers, for the model's card. */
  readonly note?: string
  /** The number of ratings if a noul is rated. The first means no, the last yes. */
  readonly noulRatings?: number | undefined
  /**
   * @param images - The request's images; without them, blocks in the state are read as JSON.
   * @param reversed - True if levels are given highest first, which the wording must say, and a
   *   noul's no stands before its yes. Ignored for a choice. Default false.
   * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if a question has more options than
   *   `maxOptions`, or for images if it is text only.
   */
  render(request: DecideRequest, images?: RequestImages, reversed?: boolean): Rendering
  /**
   * Does most of the work for one question in advance, for large requests. Only for readouts that
   * render a question in dependence on the others, and so cannot render them one by one.
   *
   * @param question - The object that will be in the request.
   * @throws As {@link render}.
   */
  prepare?(name: string, question: Question): void
  /**
   * Writes the text of a large state in advance, in steps. The state is a container: the object
   * that will be in the request.
   */
  writeState(state: Json[] | JsonObject, images?: RequestImages): Steps<void>
}

/** How a model of hidden states is asked, for people; src/prompt/hidden/README.md. */
export interface PassFacts {
  readonly template: string
  /** The text before each option, for a model that reads options in the pass. */
  readonly marker?: string
  /** The most options of one pass; undefined: as many as fit. */
  readonly maxOptions?: number | undefined
  /** For a model that reads options behind the question: how. */
  readonly options?: string
  /** For other models: how a noul is answered. */
  readonly noul?: string
  /** The factor of a cosine. */
  readonly scale?: number
}
