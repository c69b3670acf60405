/**
 * `similarity@1`: an embedding model tells how much the state is like each option's text.
 *
 * @module
 */

import { failure, placeOf } from '../../api/place.js'
import type { NoulQuestion, Question } from '../../decide/types.js'
import type { ModelInfo, PromptPart } from '../../engine/types.js'
import { instructionText } from '../letters.js'
import type { PassFacts } from '../types.js'
import { joined, optionTexts, questionText, wholeText } from './pass-text.js'
import { type AskedOfStates, oneByOne, StatesReadout } from './states-readout.js'
import { parseTextTemplate, type TextTemplate } from './text-template.js'

const templateKey = 'oi.similarity.template'
const scaleKey = 'oi.similarity.scale'

export class SimilarityReadout extends StatesReadout {
  /** Each option is compared on its own. */
  readonly ownOrders = true
  override readonly tokenTexts = new Map([[0, 'similarity']])
  readonly note =
    'It compares embeddings of state and options, as a fallback: it knows nothing of negation'
  readonly pass: PassFacts
  readonly #template: TextTemplate<'text'>

  constructor(info: ModelInfo) {
    super(info)
    const { metadata } = info
    this.#template = parseTextTemplate(templateKey, metadata[templateKey] ?? '', ['text'])
    this.pass = {
      template: this.#template.source,
      noul: 'the texts of criteria.true and criteria.false, which it needs',
      scale: Number(metadata[scaleKey]),
    }
  }

  protected override prefix(state: string): PromptPart[] {
    return this.#template.whole({ text: state })
  }

  protected override ask(question: Question, place: string, reversed: boolean): AskedOfStates {
    const options =
      question.type === 'noul' ? noulTexts(question, place) : optionTexts(question, reversed)
    const texts = options.map((text) => joined(questionText(question), text))
    const whole = (text: string) => this.#template.whole({ text })
    return oneByOne(texts.map(whole), whole(wholeText(question)))
  }
}

/** No before yes. */
function noulTexts({ criteria }: NoulQuestion, place: string): string[] {
  const texts = [criteria?.false, criteria?.true].map((text) => instructionText(text))
  if (texts.every((text) => text !== '')) return texts
  throw failure(
    'ERR_REQUEST_UNACCEPTABLE',
    placeOf(place, 'criteria'),
    'an embedding model compares the state with texts: give criteria.true and criteria.false, ' +
      'what such a state says in each case',
  )
}
