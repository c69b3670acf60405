/**
 * What a readout is: how one model is asked, and where its answers are read.
 *
 * @module
 */

import type { Json, JsonObject } from '../api/json.js'
import type { Orders } from '../api/orders.js'
import type { Steps } from '../api/turns.js'
import type { DecideRequest, Question, RequestImages } from '../decide/types.js'
import type { ScoreInput } from '../engine/types.js'
import type { Reading } from '../scoring/types.js'
import type { Temperature } from './temperatures.js'

/** How one question's answer is read. */
export interface Reader {
  readonly name: string
  readonly question: Question
  readonly reading: Reading
}

export interface Rendering {
  readonly input: ScoreInput
  /** One for each question, in order: each takes as many suffixes as its reading says. */
  readonly readers: readonly Reader[]
}

export interface Readout {
  /**
   * Name and version: `letters@1`, and behind it how a question is asked that has more options than
   * there are labels, if they are fewer than 255: `letters@1+groups` in two steps,
   * `letters@1+trie` with codes of several tokens.
   */
  readonly name: string
  /** Those of a single token: two or more, or none. */
  readonly labels: readonly string[]
  /** Those of several tokens, which questions of more options than labels take; often none. */
  readonly codes: readonly string[]
  /** What counts as no and as yes: every form that is read, summed up. */
  readonly noulForms: { readonly no: readonly string[]; readonly yes: readonly string[] }
  /** Options of a choice and levels of a score at most, 2 to 255. */
  readonly maxOptions: number
  /** True if its prompts have no place for images, whatever the model sees. */
  readonly textOnly?: true
  /** True if it says itself in which orders options are shown; then no others are asked for. */
  readonly ownOrders?: true
  /** In how many orders its model wants to be asked where nothing else is said; 1 by default. */
  readonly orders?: Orders
  /** Every token that can be a candidate, as far as known: the label or the form that it is. */
  readonly tokenTexts: ReadonlyMap<number, string>
  /** Its own, which come before any that were fitted later. */
  readonly temperatures?: readonly Temperature[]
  /** Of a model whose answers are read from its hidden states: what a pass through it is. */
  readonly pass?: PassFacts
  /** If a noul is rated: how many ratings there are. The first means no and the last yes. */
  readonly noulRatings?: number | undefined
  /**
   * @param images - Those of the request; without them, blocks in the state are read as JSON.
   * @param reversed - True if levels are given highest first, which the wording has to say, and a
   *   noul's no is to stand before its yes. Of no meaning for a choice. Default false.
   * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if a question has more options than
   *   `maxOptions`, or for images if it is text only.
   */
  render(request: DecideRequest, images?: RequestImages, reversed?: boolean): Rendering
  /**
   * Does most of the work for one question ahead, for large requests. Only there where how a
   * question is rendered depends on the others, so that they cannot be rendered one by one.
   *
   * @param question - The object that will be in the request.
   * @throws As {@link render}.
   */
  prepare?(name: string, question: Question): void
  /**
   * Writes the text of a state ahead, in steps, for a state that is much: a container, the object
   * that will be in the request.
   */
  writeState(state: Json[] | JsonObject, images?: RequestImages): Steps<void>
}

/** How a model of hidden states is asked, for people; src/prompt/hidden/README.md. */
export interface PassFacts {
  readonly template: string
  /** What stands before each option. */
  readonly marker: string
  readonly positions: 'sequential' | 'parallel'
  /** Of one pass; undefined: as many as fit. */
  readonly maxOptions: number | undefined
}
