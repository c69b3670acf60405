/**
 * The readout of decision models: their own template, and the rules of their family.
 *
 * A request becomes one prefix (the template's head and the state) and one suffix for each
 * question, two where a family asks in both orders. If the template's head depends on the question
 * and differs within a request, the prefix is the common part of the heads, and the state is in
 * every suffix.
 *
 * @module
 */

import { tooManyOptions } from '../../api/counts.js'
import { entriesOf, isLarge } from '../../api/json.js'
import type { Json, JsonObject } from '../../api/json.js'
import { mostOptions } from '../../api/limits.js'
import type { Steps } from '../../api/turns.js'
import type { DecideRequest, Question, RequestImages } from '../../decide/types.js'
import type { Engine, PromptPart, Suffix } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import type { LabelReading } from '../../scoring/types.js'
import type { Reader, Readout, Rendering } from '../types.js'
import { decisionType, families, type Family, ratings, refusedTypes } from './families.js'
import { type Asked, createQuestions, type Questions } from './questions.js'
import { type RenderedQuestion, SystemoneTemplate } from './systemone-template.js'
import type { Temperature } from '../../scoring/types.js'
import { distinct } from './distinct-options.js'
import { readTemperatures } from './temperatures.js'
import { templateText, templateTextInSteps } from './template-text.js'

/**
 * @param engine - With a model that has a {@link decisionType}.
 * @throws {@link OiError} `ERR_READOUT` if the type cannot be served, or its template, labels or
 *   temperatures are wrong.
 */
export async function createNativeReadout(engine: Engine): Promise<Readout> {
  const type = decisionType(engine.info) ?? ''
  const family = Object.hasOwn(families, type) ? families[type]! : undefined
  if (family === undefined) {
    const known = Object.hasOwn(refusedTypes, type)
    const reason = known ? refusedTypes[type]! : 'which oi does not know'
    throw new OiError('ERR_READOUT', `decision model of the type ${type}: ${reason}`)
  }
  const temperatures = readTemperatures(engine.info, family.buckets)
  const source = engine.info.chatTemplates['systemone']
  if (source === undefined) {
    throw new OiError('ERR_READOUT', `decision model of the type ${type}: no systemone template`)
  }
  const most = family.labels === 'letters' ? 52 : mostOptions
  const template = await SystemoneTemplate.create(source, engine, most)
  const questions = await createQuestions(engine, family)
  return new NativeReadout(family, template, questions, temperatures)
}

class NativeReadout implements Readout {
  readonly name: string
  readonly labels: readonly string[]
  readonly codes: readonly string[] = []
  readonly noulForms: Readout['noulForms']
  readonly noulRatings: number | undefined
  readonly maxOptions: number
  readonly tokenTexts: ReadonlyMap<number, string>
  readonly textOnly = true
  readonly ownOrders = true
  readonly temperatures: readonly Temperature[]
  readonly #family: Family
  readonly #template: SystemoneTemplate
  readonly #questions: Questions
  readonly #tail: PromptPart
  /** Texts of large states, written in advance. */
  readonly #written = new WeakMap<object, string>()
  /** Prepared questions. */
  readonly #variantsOf = new WeakMap<Question, Variant[]>()

  constructor(
    family: Family,
    template: SystemoneTemplate,
    questions: Questions,
    temperatures: readonly Temperature[],
  ) {
    this.name = family.version
    this.labels = questions.labels
    this.noulForms = questions.noulForms
    this.noulRatings = family.noul === 'rating' ? ratings : undefined
    this.maxOptions = questions.maxOptions
    this.tokenTexts = questions.tokenTexts
    this.temperatures = temperatures
    this.#family = family
    this.#template = template
    this.#questions = questions
    this.#tail = { text: template.tail, trusted: true }
  }

  render(request: DecideRequest, images?: RequestImages): Rendering {
    if (images !== undefined) throw noImages(this.name)
    const asked = entriesOf(request.questions).map(([name, question]) => ({
      name,
      question,
      variants: this.#variantsOf.get(question) ?? this.#variants(name, question),
    }))
    const { between } = this.#template
    const written = isLarge(request.state) && this.#written.get(request.state as object)
    const text = written || templateText(request.state, this.#family.state)
    const state = this.#template.state(text) + between

    const all = asked.flatMap(({ variants }) => variants.map(({ rendered }) => rendered))
    const [first] = all
    const shared = all.every(({ head, lead }) => head === first!.head && lead === first!.lead)
    const head = shared && first ? first.head : this.#template.commonHead
    const prefix: PromptPart[] = head === '' ? [] : [{ text: head, trusted: true }]
    if (shared) prefix.push({ text: (first?.lead ?? '') + state, trusted: false })

    const suffixes: Suffix[] = []
    const readers: Reader[] = asked.map(({ name, question, variants }, i) => {
      variants.forEach(({ rendered, candidates }, variant) => {
        const own = this.#parts(rendered)
        const parts = shared ? own : this.#whole(rendered, state)
        if (variant > 0) suffixes.push({ parts, candidates, counts: [] })
        else if (shared) suffixes.push({ parts, candidates })
        // As if the questions shared the state, behind the head of the first.
        else if (i > 0) suffixes.push({ parts, candidates, counts: own })
        else
          suffixes.push({ parts, candidates, counts: [...this.#before(rendered, state), ...own] })
      })
      return { name, question, reading: readingOf(variants) }
    })
    return { input: { prefix, suffixes }, readers }
  }

  prepare(name: string, question: Question): void {
    if (this.#variantsOf.has(question)) return
    this.#variantsOf.set(question, this.#variants(name, question))
  }

  #variants(name: string, question: Question): Variant[] {
    const asked = this.#questions.ask(question)
    if (asked === undefined) {
      throw tooManyOptions(name, question, this.#questions.mostOf(question))
    }
    return asked.map((variant) => ({
      ...variant,
      rendered: this.#template.question(distinct(variant.question, this.#template)),
    }))
  }

  /** @param state - Undefined if it is in the prefix. */
  *writeState(state: Json[] | JsonObject): Steps<void> {
    this.#written.set(state, yield* templateTextInSteps(state, this.#family.state))
  }

  /** A question behind the state. */
  #parts({ text }: RenderedQuestion): PromptPart[] {
    return [{ text, trusted: false }, this.#tail]
  }

  /** The state behind the head of a question. */
  #before({ head, lead }: RenderedQuestion, state: string): [PromptPart, PromptPart] {
    const rest = head.slice(this.#template.commonHead.length)
    return [
      { text: rest, trusted: true },
      { text: lead + state, trusted: false },
    ]
  }

  /** The state and a question, which are tokenized together. */
  #whole(rendered: RenderedQuestion, state: string): PromptPart[] {
    const [head, { text }] = this.#before(rendered, state)
    return [head, { text: text + rendered.text, trusted: false }, this.#tail]
  }
}

interface Variant extends Asked {
  readonly rendered: RenderedQuestion
}

function readingOf(variants: readonly Variant[]): Reader['reading'] {
  const [first] = variants
  if (variants.length === 1) return labelReading(first!)
  return {
    kind: 'orders',
    mean: 'probabilities',
    orders: variants.map((variant) => ({
      places: variant.places,
      reading: labelReading(variant),
    })),
  }
}

function labelReading({ forms }: Asked): LabelReading {
  // d1 takes the likeliest of a label's forms.
  return forms.some((count) => count > 1)
    ? { kind: 'labels', forms, pick: 'likeliest' }
    : { kind: 'labels', forms }
}

function noImages(readout: string): OiError {
  return new OiError(
    'ERR_REQUEST_UNACCEPTABLE',
    `state: expected no image, the readout ${readout} is asked in text only`,
    { param: 'state' },
  )
}
