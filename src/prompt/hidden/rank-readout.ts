/**
 * `rank@1`: a reranker scores pairs of a query and a document. The state is the document, and a
 * question with one of its options is a query.
 *
 * @module
 */

import { failure, placeOf } from '../../api/place.js'
import type { Question } from '../../decide/types.js'
import type { ModelInfo, PromptPart } from '../../engine/types.js'
import type { ScoreReading } from '../../scoring/types.js'
import { instructionText } from '../letters.js'
import type { PassFacts } from '../types.js'
import { joined, optionTexts, questionText, wholeText } from './pass-text.js'
import { type AskedOfStates, oneByOne, StatesReadout } from './states-readout.js'
import { parseTextTemplate, type TextTemplate } from './text-template.js'

const templateKey = 'oi.rank.template'
const names = ['query', 'document'] as const

export class RankReadout extends StatesReadout {
  /** Each option is scored on its own. */
  readonly ownOrders = true
  override readonly tokenTexts = new Map([[0, 'score']])
  readonly pass: PassFacts
  readonly #template: TextTemplate<(typeof names)[number]>
  readonly #documentFirst: boolean

  constructor(info: ModelInfo) {
    super(info)
    this.#template = parseTextTemplate(templateKey, info.metadata[templateKey] ?? '', names)
    this.#documentFirst = this.#template.order[0] === 'document'
    this.pass = {
      template: this.#template.source,
      noul: 'p(yes) is the sigmoid of the score of the instructions with criteria.true',
    }
  }

  protected override prefix(state: string): PromptPart[] {
    const texts = { document: state, query: '' }
    return this.#documentFirst
      ? this.#template.before('query', texts)
      : this.#template.from('document', texts)
  }

  protected override ask(question: Question, place: string, reversed: boolean): AskedOfStates {
    const counts = this.#parts(wholeText(question))
    if (question.type === 'noul') {
      const query = joined(questionText(question), instructionText(question.criteria?.true))
      if (query === '') throw nothingAsked(place)
      // No has a logit of 0, so that p(yes) is the sigmoid of the score.
      const reading: ScoreReading = { kind: 'scores', options: [null, 0] }
      const suffix = { parts: this.#parts(query), candidates: new Int32Array(1) }
      return { suffixes: [suffix], reading, counts }
    }
    const queries = optionTexts(question, reversed).map((text) =>
      this.#parts(joined(questionText(question), text)),
    )
    return oneByOne(queries, counts)
  }

  #parts(query: string): PromptPart[] {
    const texts = { document: '', query }
    return this.#documentFirst
      ? this.#template.from('query', texts)
      : this.#template.before('document', texts)
  }
}

function nothingAsked(place: string) {
  return failure(
    'ERR_REQUEST_UNACCEPTABLE',
    placeOf(place, 'instructions'),
    'a reranker needs a question: give instructions, or criteria.true',
  )
}
