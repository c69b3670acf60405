/**
 * `markers@1` and `pointer@1`: a marker before each option, and a head that computes its logit.
 * README.md describes such a model's file; the engine computes the head.
 *
 * @module
 */

import type { Question } from '../../decide/types.js'
import type { ModelInfo, PromptPart } from '../../engine/types.js'
import type { PassFacts } from '../types.js'
import { type PassTemplate, parsePassTemplate } from './pass-template.js'
import { optionTexts, questionText } from './pass-text.js'
import { type AskedOfStates, oneOption, StatesReadout } from './states-readout.js'

export class MarkerReadout extends StatesReadout {
  readonly ownOrders?: true
  readonly pass: PassFacts
  readonly #template: PassTemplate
  readonly #marker: PromptPart

  /** @param prefix - Of its keys in the metadata. */
  constructor(info: ModelInfo, prefix: string) {
    super(info)
    const { metadata } = info
    this.#template = parsePassTemplate(`${prefix}template`, metadata[`${prefix}template`] ?? '')
    const marker = metadata[`${prefix}marker`] ?? ''
    this.#marker = { text: marker, trusted: true }
    const parallel = metadata[`${prefix}positions`] === 'parallel'
    // Options are evaluated in parallel: their order makes no difference.
    if (parallel) this.ownOrders = true
    this.pass = {
      template: this.#template.source,
      marker,
      positions: parallel ? 'parallel' : 'sequential',
      alone: metadata[`${prefix}alone`],
      maxOptions: Number(metadata[`${prefix}pass_options`] ?? 0) || undefined,
    }
  }

  protected override prefix(state: string): PromptPart[] {
    return this.#template.prefix([{ text: state, trusted: false }])
  }

  protected override ask(question: Question, _place: string, reversed: boolean): AskedOfStates {
    const options = optionTexts(question, reversed)
    const parts = options.flatMap((text) => [this.#marker, { text, trusted: false }])
    const suffix = this.#template.suffix(questionText(question), parts)
    if (options.length === 1) {
      return { suffixes: [{ parts: suffix, candidates: new Int32Array(0) }], reading: oneOption }
    }
    // One marker for each option; the file says which token it is.
    const candidates = new Int32Array(options.length)
    const forms = options.map(() => 1)
    return { suffixes: [{ parts: suffix, candidates }], reading: { kind: 'labels', forms } }
  }
}
