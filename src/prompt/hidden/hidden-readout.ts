/**
 * The readouts of hidden states: a marker before each option, and a head that computes its logit.
 * README.md describes such a model's file; the engine computes the head.
 *
 * @module
 */

import { entriesOf, isLarge, parseJson } from '../../api/json.js'
import type { Json, JsonObject } from '../../api/json.js'
import { stringifyInSteps } from '../../api/json-writer.js'
import { mostOptions } from '../../api/limits.js'
import { placeOf } from '../../api/place.js'
import type { Steps } from '../../api/turns.js'
import type { DecideRequest, Question, RequestImages } from '../../decide/types.js'
import type { Engine, ModelInfo, PromptPart, Suffix } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import { named } from '../custom/faults.js'
import { readTemperatures } from '../custom/read-temperatures.js'
import { stateText } from '../letters.js'
import type { PassFacts, Reader, Readout, Rendering } from '../types.js'
import type { Temperature } from '../temperatures.js'
import { type PassTemplate, parsePassTemplate } from './pass-template.js'
import { optionTexts, questionText } from './pass-text.js'

/** Readout name -> the prefix of its keys in the metadata. */
const prefixes: Readonly<Record<string, string>> = {
  'markers@1': 'oi.markers.',
  'pointer@1': 'oi.pointer.',
}
const temperatureKey = 'oi.temperature'

/** Whether a model's answers are read from its hidden states. */
export function readsStates({ metadata }: ModelInfo): boolean {
  return Object.hasOwn(prefixes, metadata['oi.readout'] ?? '')
}

/** The text before each option, for a model that {@link readsStates}. */
export function markerOf({ metadata }: ModelInfo): string {
  return metadata[`${prefixes[metadata['oi.readout']!]}marker`] ?? ''
}

/**
 * @param engine - With a model that {@link readsStates}; opening has checked the keys that the
 *   engine needs.
 * @throws {@link OiError} `ERR_READOUT` naming the key with a wrong value.
 */
export function createHiddenReadout({ info }: Engine): Readout {
  return new HiddenReadout(info)
}

class HiddenReadout implements Readout {
  readonly name: string
  readonly labels: readonly string[] = []
  readonly codes: readonly string[] = []
  readonly noulForms = { no: ['no'], yes: ['yes'] }
  readonly maxOptions = mostOptions
  readonly tokenTexts: ReadonlyMap<number, string> = new Map()
  readonly textOnly = true
  readonly ownOrders?: true
  readonly temperatures?: readonly Temperature[]
  readonly pass: PassFacts
  readonly #template: PassTemplate
  readonly #marker: PromptPart
  /** Texts of large states, written in advance. */
  readonly #written = new WeakMap<object, string>()

  constructor(info: ModelInfo) {
    const { metadata } = info
    this.name = metadata['oi.readout']!
    const prefix = prefixes[this.name]!
    this.#template = parsePassTemplate(`${prefix}template`, metadata[`${prefix}template`] ?? '')
    this.#marker = { text: markerOf(info), trusted: true }
    const temperatures = temperaturesOf(metadata[temperatureKey])
    if (temperatures) this.temperatures = temperatures
    const parallel = metadata[`${prefix}positions`] === 'parallel'
    // Options are evaluated in parallel: their order makes no difference.
    if (parallel) this.ownOrders = true
    this.pass = {
      template: this.#template.source,
      marker: this.#marker.text,
      positions: parallel ? 'parallel' : 'sequential',
      maxOptions: Number(metadata[`${prefix}pass_options`] ?? 0) || undefined,
    }
  }

  render(request: DecideRequest, images?: RequestImages, reversed = false): Rendering {
    if (images !== undefined) {
      const message = `images: a model with the readout ${this.name} reads text only`
      throw new OiError('ERR_REQUEST_UNACCEPTABLE', message)
    }
    const { state, questions } = request
    const written = isLarge(state) ? this.#written.get(state as object) : undefined
    const text = written ?? stateText(state)
    const readers: Reader[] = []
    const suffixes: Suffix[] = []
    for (const [key, question] of entriesOf(questions)) {
      const options = optionTexts(question, reversed)
      if (options.length > mostOptions) throw tooMany(key, question, options.length)
      suffixes.push(this.#suffix(question, options))
      const forms = options.length === 1 ? [] : options.map(() => 1)
      readers.push({ name: key, question, reading: { kind: 'labels', forms } })
    }
    const prefix = this.#template.prefix([{ text, trusted: false }])
    return { input: { prefix, suffixes }, readers }
  }

  *writeState(state: Json[] | JsonObject): Steps<void> {
    this.#written.set(state, yield* stringifyInSteps(state))
  }

  #suffix(question: Question, options: readonly string[]): Suffix {
    const parts = options.flatMap((text) => [this.#marker, { text, trusted: false }])
    // One marker for each option; the file says which token it is.
    const candidates = new Int32Array(options.length === 1 ? 0 : options.length)
    return { parts: this.#template.suffix(questionText(question), parts), candidates }
  }
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

function tooMany(key: string, { type }: Question, count: number): OiError {
  const param = placeOf(placeOf('questions', key), 'criteria')
  const noun = type === 'score' ? 'levels' : 'options'
  return new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `${param}: expected 1 to ${mostOptions} ${noun}, got ${count}`,
    { param },
  )
}
