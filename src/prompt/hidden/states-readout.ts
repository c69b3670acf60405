/**
 * What the readouts of hidden states have in common: they read text alone, and each question is
 * rendered on its own.
 *
 * @module
 */

import { optionCount, tooManyOptions } from '../../api/counts.js'
import { entriesOf, isLarge, parseJson } from '../../api/json.js'
import type { Json, JsonObject } from '../../api/json.js'
import { stringifyInSteps } from '../../api/json-writer.js'
import { mostOptions } from '../../api/limits.js'
import { placeOf } from '../../api/place.js'
import type { Steps } from '../../api/turns.js'
import type { DecideRequest, Question, RequestImages } from '../../decide/types.js'
import type { ModelInfo, PromptPart, Suffix } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import type { LabelReading, ScoreReading } from '../../scoring/types.js'
import { named } from '../custom/faults.js'
import { readTemperatures } from '../custom/read-temperatures.js'
import { stateText } from '../letters.js'
import type { Temperature } from '../../scoring/types.js'
import type { PassFacts, Reader, Readout, Rendering } from '../types.js'

const temperatureKey = 'oi.temperature'

/** A question as it is asked. */
export interface AskedOfStates {
  readonly suffixes: readonly Suffix[]
  readonly reading: LabelReading | ScoreReading
  /** What is counted, if the suffixes repeat some of the question or leave some out. */
  readonly counts?: readonly PromptPart[]
}

/** The reading of a question of one option, whose suffix has no candidates. */
export const oneOption: LabelReading = { kind: 'labels', forms: [] }

/** One suffix with a candidate for each option; a single option needs none. */
export function inOnePass(parts: readonly PromptPart[], options: number, kind = 0): AskedOfStates {
  const candidates = new Int32Array(options === 1 ? 0 : options).fill(kind)
  const forms = Array.from(candidates, () => 1)
  return { suffixes: [{ parts, candidates }], reading: { kind: 'labels', forms } }
}

/** Texts that are scored one by one; a single one needs no score. */
export function oneByOne(
  texts: readonly (readonly PromptPart[])[],
  counts: readonly PromptPart[],
): AskedOfStates {
  const scored = Number(texts.length > 1)
  const suffixes = texts.map((parts) => ({ parts, candidates: new Int32Array(scored) }))
  const options = texts.map((_, i) => i)
  return { suffixes, reading: scored ? { kind: 'scores', options } : oneOption, counts }
}

export abstract class StatesReadout implements Readout {
  readonly name: string
  readonly labels: readonly string[] = []
  readonly noulForms: Readout['noulForms'] = { no: ['no'], yes: ['yes'] }
  readonly maxOptions: number = mostOptions
  readonly tokenTexts: ReadonlyMap<number, string> = new Map()
  readonly textOnly = true
  readonly temperatures?: readonly Temperature[]
  abstract readonly pass: PassFacts
  /** Texts of large states, written in advance. */
  readonly #written = new WeakMap<object, string>()

  /** @throws {@link OiError} `ERR_READOUT` for a wrong `oi.temperature`. */
  constructor({ metadata }: ModelInfo) {
    this.name = metadata['oi.readout']!
    const temperatures = temperaturesOf(metadata[temperatureKey])
    if (temperatures) this.temperatures = temperatures
  }

  /** The parts common to all questions of a request. */
  protected abstract prefix(state: string): PromptPart[]

  /**
   * @param place - Of the question in the request, for errors.
   * @param reversed - As of {@link Readout.render}.
   */
  protected abstract ask(question: Question, place: string, reversed: boolean): AskedOfStates

  render(request: DecideRequest, images?: RequestImages, reversed = false): Rendering {
    if (images !== undefined) {
      const message = `images: a model with the readout ${this.name} reads text only`
      throw new OiError('ERR_REQUEST_UNACCEPTABLE', message)
    }
    const { state, questions } = request
    const written = isLarge(state) ? this.#written.get(state as object) : undefined
    const readers: Reader[] = []
    const suffixes: Suffix[] = []
    for (const [key, question] of entriesOf(questions)) {
      const place = placeOf('questions', key)
      if (optionCount(question) > mostOptions) throw tooManyOptions(key, question, mostOptions)
      const asked = this.ask(question, place, reversed)
      suffixes.push(...countedOnce(asked))
      readers.push({ name: key, question, reading: asked.reading })
    }
    return { input: { prefix: this.prefix(written ?? stateText(state)), suffixes }, readers }
  }

  *writeState(state: Json[] | JsonObject): Steps<void> {
    this.#written.set(state, yield* stringifyInSteps(state))
  }
}

function countedOnce({ suffixes, counts }: AskedOfStates): readonly Suffix[] {
  if (counts === undefined) return suffixes
  return suffixes.map((suffix, i) => ({ ...suffix, counts: i === 0 ? counts : [] }))
}

function temperaturesOf(text: string | undefined): readonly Temperature[] | undefined {
  if (text === undefined) return undefined
  try {
    return readTemperatures(parseJson(text))
  } catch (error) {
    const { message } = error as Error
    throw named(temperatureKey, new OiError('ERR_READOUT', message, { cause: error }))
  }
}
