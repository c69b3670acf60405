/**
 * `pointer@1`: a decoder reads a marker before each option, and its head points to one of them.
 * README.md describes such a model's file; the engine computes the head.
 *
 * @module
 */

import type { Question } from '../../decide/types.js'
import type { ModelInfo, PromptPart, Suffix } from '../../engine/types.js'
import type { PassFacts } from '../types.js'
import { type PassTemplate, parsePassTemplate } from './pass-template.js'
import { optionTexts, questionText } from './pass-text.js'
import { type AskedOfStates, inOnePass, StatesReadout } from './states-readout.js'

const templateKey = 'oi.pointer.template'
const markerKey = 'oi.pointer.marker'
const passOptionsKey = 'oi.pointer.pass_options'

export class PointerReadout extends StatesReadout {
  readonly pass: PassFacts
  readonly #template: PassTemplate
  readonly #marker: PromptPart

  constructor(info: ModelInfo) {
    super(info)
    const { metadata } = info
    this.#template = parsePassTemplate(templateKey, metadata[templateKey] ?? '')
    this.#marker = markerOf(info)
    this.pass = {
      template: this.#template.source,
      marker: this.#marker.text,
      maxOptions: Number(metadata[passOptionsKey] ?? 0) || undefined,
    }
  }

  protected override prefix(state: string): PromptPart[] {
    return this.#template.prefix([{ text: state, trusted: false }])
  }

  protected override ask(question: Question, _place: string, reversed: boolean): AskedOfStates {
    const options = optionTexts(question, reversed)
    const parts = options.flatMap((text) => [this.#marker, { text, trusted: false }])
    // One marker for each option; the file says which token it is.
    return inOnePass(this.#template.suffix(questionText(question), parts), options.length)
  }
}

const markerOf = ({ metadata }: ModelInfo): PromptPart => {
  return { text: metadata[markerKey] ?? '', trusted: true }
}

/** A question of any text, with the options no and yes. */
export function pointerTrial(info: ModelInfo, asked: string): Suffix {
  const options = ['no', 'yes'].flatMap((text) => [markerOf(info), { text, trusted: false }])
  const parts = [{ text: asked, trusted: false }, ...options]
  return { parts, candidates: Int32Array.of(0, 1) }
}
