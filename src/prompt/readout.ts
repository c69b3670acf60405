/**
 * How one model is asked, and where its answers are read.
 *
 * Everything that depends on the model alone is found out once, when the readout is made.
 * Rendering a request is then pure string work.
 *
 * A request becomes one shared prefix (the layout's head, and the state with the line break
 * behind it, so that both are tokenized as running text) and one suffix for each question
 * (its wording, and the layout's tail). The caller's text is never in a trusted part. A state with
 * images is cut where they stand.
 *
 * @module
 */

import { mostOptions } from '../api/limits.js'
import type { Json, JsonObject } from '../api/json.js'
import type { Orders } from '../api/orders.js'
import type { Steps } from '../api/turns.js'
import type { DecideRequest, Question, RequestImages } from '../decide/types.js'
import type { Engine, ModelInfo, ScoreInput } from '../engine/types.js'
import { OiError } from '../errors.js'
import type { Reading } from '../scoring/types.js'
import { renderChat } from './chat-template.js'
import { findCodes, mostCodes } from './codes.js'
import { embeddedReadout } from './custom/embedded.js'
import { named } from './custom/faults.js'
import { frameLayout } from './custom/frame.js'
import { ownLabels, ownNoulTokens } from './custom/own-labels.js'
import type { ChosenReadout, CustomReadout } from './custom/types.js'
import { createHiddenReadout, readsStates } from './hidden/hidden-readout.js'
import { findLabels, findNoulTokens } from './labels.js'
import { lettersOne, type LettersVersion } from './letters.js'
import { LettersReadout } from './letters-readout.js'
import { decisionType } from './native/families.js'
import { createNativeReadout } from './native/native-readout.js'
import type { Temperature } from './temperatures.js'
import { plainLayout } from './plain-layout.js'
import type { Layout } from './plain-layout.js'
import { answerTail } from './thinking.js'

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

export interface ReadoutOptions {
  /**
   * Single-token labels at most; 255 by default, as more are never needed. With fewer, a model is
   * asked as one of a poorer vocabulary would be.
   */
  readonly maxLabels?: number
  /** What takes the place of the readout that the model has. */
  readonly custom?: ChosenReadout | undefined
}

/**
 * Finds out how a model can be asked: with a readout that it was given or brings along, a decision
 * model in its own format, any other with labels of one token, and beyond them in groups, or, if
 * groups do not reach 255 options, with codes of several tokens.
 *
 * @throws {@link OiError} `ERR_READOUT` if its template cannot be used, always thinks, or leaves
 *   no place for labels; if it is a decision model of a type that cannot be served; of a user's
 *   own, with its file.
 */
export async function createReadout(
  engine: Engine,
  { maxLabels = mostOptions, custom }: ReadoutOptions = {},
): Promise<Readout> {
  if (readsStates(engine.info)) {
    if (custom === undefined) return createHiddenReadout(engine)
    throw new OiError(
      'ERR_READOUT',
      `the model is asked as ${engine.info.metadata['oi.readout']} alone: no other readout fits it`,
    )
  }
  const own = custom ?? embeddedReadout(engine.info)
  if (own !== undefined) {
    return 'file' in own
      ? createCustomReadout(engine, own)
      : createLettersReadout(engine, maxLabels, own)
  }
  if (decisionType(engine.info) !== undefined) return createNativeReadout(engine)
  return createLettersReadout(engine, maxLabels, lettersOne)
}

async function createLettersReadout(
  engine: Engine,
  maxLabels: number,
  version: LettersVersion,
): Promise<Readout> {
  const layout = layoutOf(engine.info)
  const labels = await findLabels(engine, layout, maxLabels)
  const inGroups = labels.length ** 2
  const found = inGroups < mostOptions ? await findCodes(engine, layout) : []
  const codes = mostCodes(found) > inGroups ? found : []
  if (labels.length === 0 && codes.length === 0) {
    throw new OiError(
      'ERR_READOUT',
      'labels: expected 2 letters or digits or more that are tokens behind the question',
    )
  }
  const noul = await findNoulTokens(engine, layout)
  return new LettersReadout({ layout, labels, codes, noul, version })
}

async function createCustomReadout(engine: Engine, custom: CustomReadout): Promise<Readout> {
  const { template, labelPrefix } = custom
  try {
    const found =
      template?.kind === 'frame'
        ? withBos(frameLayout(template.source, engine.info), engine.info)
        : layoutOf(template ? { ...engine.info, chatTemplate: template.source } : engine.info)
    const layout = { ...found, labelPrefix: labelPrefix ?? found.labelPrefix }
    const labels = custom.labels
      ? await ownLabels(engine, layout, custom.labels)
      : await findLabels(engine, layout, mostOptions)
    if (labels.length === 0) {
      throw new OiError('ERR_READOUT', 'labels: expected 2 single tokens or more')
    }
    const noul = custom.noul
      ? await ownNoulTokens(engine, layout, custom.noul)
      : await findNoulTokens(engine, layout)
    return new LettersReadout({ layout, labels, codes: [], noul, custom })
  } catch (error) {
    throw named(custom.file, error)
  }
}

function layoutOf(info: ModelInfo): Layout {
  return withBos(info.chatTemplate ? chatLayout(info.chatTemplate, info) : plainLayout, info)
}

function withBos(layout: Layout, info: ModelInfo): Layout {
  const addsBos = info.metadata['tokenizer.ggml.add_bos_token'] === 'true'
  if (!addsBos || layout.head.startsWith(info.bosToken)) return layout
  return { ...layout, head: info.bosToken + layout.head }
}

function chatLayout(source: string, info: ModelInfo): Layout {
  const rendering = renderChat(source, info)
  const { head, between, replyTail } = rendering
  const tail = answerTail(rendering, source)
  return { head, between, tail, labelPrefix: replyTail === `${tail} ` ? ' ' : '' }
}
