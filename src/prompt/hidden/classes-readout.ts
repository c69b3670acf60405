/**
 * `classes@1`: a classifier reads the state alone, and answers with labels of its own.
 *
 * @module
 */

import { keysOf, parseJson } from '../../api/json.js'
import { mostOptions } from '../../api/limits.js'
import { failure, itemOf, placeOf } from '../../api/place.js'
import type { NoulQuestion, Question } from '../../decide/types.js'
import type { ModelInfo, PromptPart } from '../../engine/types.js'
import type { OiError } from '../../errors.js'
import { instructionText } from '../letters.js'
import type { PassFacts } from '../types.js'
import { wholeText } from './pass-text.js'
import { type AskedOfStates, oneOption, StatesReadout } from './states-readout.js'
import { parseTextTemplate, type TextTemplate } from './text-template.js'

const templateKey = 'oi.classes.template'
const labelsKey = 'oi.classes.labels'
/** Labels in messages at most. */
const shownLabels = 40

export class ClassesReadout extends StatesReadout {
  /** Probabilities of labels do not depend on their order. */
  readonly ownOrders = true
  override readonly labels: readonly string[]
  override readonly maxOptions: number
  override readonly tokenTexts: ReadonlyMap<number, string>
  readonly pass: PassFacts
  readonly #template: TextTemplate<'text'>
  /** The label that means yes, if there are two, yes and no or true and false. */
  readonly #yes: number | undefined

  constructor(info: ModelInfo) {
    super(info)
    const { metadata } = info
    this.#template = parseTextTemplate(templateKey, metadata[templateKey] ?? '', ['text'])
    // From the engine, which has checked that there are two or more.
    this.labels = parseJson(metadata[labelsKey] ?? '[]') as string[]
    this.maxOptions = Math.min(mostOptions, this.labels.length)
    this.tokenTexts = new Map(this.labels.map((label, i) => [i, label]))
    this.#yes = yesOf(this.labels)
    const own =
      this.#yes === undefined ? '' : `, ${JSON.stringify(this.labels[this.#yes])} by itself`
    this.pass = {
      template: this.#template.source,
      noul: `the label that criteria.true names, against all others${own}`,
    }
  }

  protected override prefix(state: string): PromptPart[] {
    return this.#template.whole({ text: state })
  }

  protected override ask(question: Question, place: string): AskedOfStates {
    if (question.type === 'noul') return this.#askNoul(question, place)
    const criteria = placeOf(place, 'criteria')
    const asked =
      question.type === 'choice'
        ? keysOf(question.criteria).map((name) => ({ name, at: placeOf(criteria, name) }))
        : question.criteria.map((level, i) => ({
            name: instructionText(level),
            at: itemOf(criteria, i),
          }))
    const found: number[] = []
    for (const { name, at } of asked) {
      const label = this.#find(name)
      if (label === undefined) throw this.#unknown(name, at)
      if (found.includes(label)) throw refused(at, `${show(name)} is asked for twice`)
      found.push(label)
    }
    if (found.length === 1) {
      const suffix = { parts: [], candidates: none }
      return { suffixes: [suffix], reading: oneOption, counts: countsOf(question) }
    }
    const forms = found.map(() => 1)
    return this.#asked(found, forms, question)
  }

  #askNoul(question: NoulQuestion, place: string): AskedOfStates {
    const name = instructionText(question.criteria?.true)
    const yes = this.#find(name) ?? this.#yes
    if (yes === undefined) throw this.#unknown(name, `${place}.criteria.true`)
    const others = this.labels.flatMap((_, label) => (label === yes ? [] : [label]))
    // No is the sum of all others.
    return this.#asked([...others, yes], [others.length, 1], question)
  }

  /** The state is all that is read: there is nothing behind it. */
  #asked(labels: readonly number[], forms: readonly number[], question: Question): AskedOfStates {
    const suffix = { parts: [], candidates: Int32Array.from(labels) }
    return { suffixes: [suffix], reading: { kind: 'labels', forms }, counts: countsOf(question) }
  }

  #find(name: string): number | undefined {
    const same = (label: string) => label.toLowerCase() === name.toLowerCase()
    const exact = this.labels.indexOf(name)
    const found = exact < 0 ? this.labels.findIndex(same) : exact
    return found < 0 ? undefined : found
  }

  #unknown(name: string, place: string): OiError {
    const shown = this.labels.slice(0, shownLabels).map(show).join(', ')
    const more = this.labels.length - shownLabels
    const rest = more > 0 ? `, and ${more} more` : ''
    return refused(place, `expected a label of the model (${shown}${rest}), got ${show(name)}`)
  }
}

const none = new Int32Array(0)
const countsOf = (question: Question): PromptPart[] => [
  { text: wholeText(question), trusted: false },
]
const show = (text: string) => JSON.stringify(text)

const refused = (place: string, rule: string) => failure('ERR_REQUEST_UNACCEPTABLE', place, rule)

function yesOf(labels: readonly string[]): number | undefined {
  const lower = labels.map((label) => label.toLowerCase())
  const pairs = [
    ['yes', 'no'],
    ['true', 'false'],
  ] as const
  const pair = pairs.find((words) => lower.length === 2 && words.every((w) => lower.includes(w)))
  return pair && lower.indexOf(pair[0])
}
