/**
 * Questions in the order and with the labels of a family, ready for its template.
 *
 * @module
 */

import { entriesOf, type Json, keysOf } from '../../api/json.js'
import { mostOptions } from '../../api/limits.js'
import type { NoulQuestion, Question } from '../../decide/types.js'
import type { Engine } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import { type Code, letterCodes, ownCodes, type OwnCodes, pairCodes } from './codes.js'
import { type Family, ratings } from './families.js'
import { questionId, type TemplateOption, type TemplateQuestion } from './template-question.js'
import { templateText } from './template-text.js'

/** A question in one order, and the tokens of its answers. */
export interface Asked {
  readonly question: TemplateQuestion
  /**
   * In the order of the reading: no before yes for a noul, ratings from no to yes, or the order
   * shown.
   */
  readonly candidates: Int32Array
  readonly forms: readonly number[]
  /** The place in this order of each option, by the caller's order. */
  readonly places: readonly number[]
}

export interface Questions {
  /** The labels in their usual order, for people. */
  readonly labels: readonly string[]
  readonly noulForms: { readonly no: readonly string[]; readonly yes: readonly string[] }
  readonly maxOptions: number
  /** The text of every label that does not depend on the question. */
  readonly tokenTexts: ReadonlyMap<number, string>
  /** One for each order; undefined if there are more options than labels. */
  ask(question: Question): readonly Asked[] | undefined
  /** The most options or levels of such a question. */
  mostOf(question: Question): number
}

/** @throws {@link OiError} `ERR_READOUT` if the vocabulary has too few of the family's labels. */
export async function createQuestions(engine: Engine, family: Family): Promise<Questions> {
  if (family.labels === 'own') {
    const codes = await ownCodes(engine)
    if (codes === undefined || codes.levels.length < 2) {
      throw tooFew('yes, no and the numbers from 0')
    }
    return new OwnQuestions(family, codes)
  }
  const codes = await (family.labels === 'letters' ? letterCodes : pairCodes)(engine)
  const least = family.noul === 'rating' ? ratings : 2
  if (codes.length < least) throw tooFew(`${least} letters`)
  return new CodedQuestions(family, codes)
}

/** Questions whose answer is the label of a place in the list. */
class CodedQuestions implements Questions {
  readonly labels: readonly string[]
  readonly noulForms: Questions['noulForms']
  readonly maxOptions: number
  readonly tokenTexts: ReadonlyMap<number, string>
  readonly #family: Family
  readonly #codes: readonly Code[]

  constructor(family: Family, codes: readonly Code[]) {
    this.labels = codes.map(({ text }) => text)
    this.maxOptions = codes.length
    this.tokenTexts = textsOf(codes)
    this.#family = family
    this.#codes = codes
    const [no, yes] = { 'yes first': [1, 0], 'no first': [0, 1], rating: [0, ratings - 1] }[
      family.noul
    ] as [number, number]
    this.noulForms = { no: [this.labels[no]!], yes: [this.labels[yes]!] }
  }

  mostOf(): number {
    return this.maxOptions
  }

  ask(question: Question): readonly Asked[] | undefined {
    const { bothOrders } = this.#family
    if (question.type === 'noul') return [this.#askNoul(question)]

    const options = listedOptions(question, this.#family)
    const count = options.length
    if (count > this.maxOptions) return undefined
    const codes = this.#codes.slice(0, count)
    const order = (shown: readonly Unlabelled[], places: readonly number[]) =>
      askedOf(question, this.#family, shown, codes, places)
    const places = options.map((_, i) => i)
    const inOrder = order(options, places)
    if (!bothOrders || question.type !== 'choice' || count === 1) return [inOrder]
    return [inOrder, order(options.toReversed(), places.toReversed())]
  }

  #askNoul(question: NoulQuestion): Asked {
    const { noul } = this.#family
    const shown = noulOptions(question, this.#family)
    const codes = this.#codes.slice(0, noul === 'rating' ? ratings : 2)
    const read = noul === 'yes first' ? codes.toReversed() : codes
    return askedOf(question, this.#family, shown, codes, [], read)
  }
}

/** The labels of d1: words for a noul, numbers for a score. */
class OwnQuestions implements Questions {
  readonly labels: readonly string[]
  readonly noulForms: Questions['noulForms']
  readonly maxOptions: number
  readonly tokenTexts: ReadonlyMap<number, string>
  readonly #family: Family
  readonly #codes: OwnCodes

  constructor(family: Family, codes: OwnCodes) {
    this.#family = family
    this.#codes = codes
    const names = (count: number) => Array.from({ length: count }, (_, i) => `option ${i}`)
    let most = mostOptions
    while (most > 2 && codes.choice(names(most)) === undefined) most--
    this.maxOptions = most
    this.labels = codes.choice(names(Math.min(most, 26)))?.map(({ text }) => text) ?? []
    this.noulForms = codes.noulForms
    this.tokenTexts = textsOf([codes.no, codes.yes, ...codes.levels])
  }

  mostOf(question: Question): number {
    return question.type === 'score' ? this.#codes.levels.length : this.maxOptions
  }

  ask(question: Question): readonly Asked[] | undefined {
    if (question.type === 'noul') {
      const { no, yes } = this.#codes
      const shown = noulOptions(question, this.#family)
      return [askedOf(question, this.#family, shown, [yes, no], [], [no, yes])]
    }
    const options = listedOptions(question, this.#family)
    const codes =
      question.type === 'score'
        ? this.#levels(options.length)
        : this.#codes.choice(keysOf(question.criteria))
    if (codes === undefined) return undefined
    const places = options.map((_, i) => i)
    return [askedOf(question, this.#family, options, codes, places)]
  }

  #levels(count: number): readonly Code[] | undefined {
    const { levels } = this.#codes
    return count <= levels.length ? levels.slice(0, count) : undefined
  }
}

function textsOf(codes: readonly Code[]): ReadonlyMap<number, string> {
  return new Map(codes.flatMap(({ text, tokens }) => tokens.map((token) => [token, text])))
}

type Unlabelled = Omit<TemplateOption, 'label'>

/**
 * @param codes - The labels of the options, in their order.
 * @param read - The same labels in the order of {@link Asked}.
 */
function askedOf(
  { type, instructions }: Question,
  { values }: Family,
  options: readonly Unlabelled[],
  codes: readonly Code[],
  places: readonly number[],
  read = codes,
): Asked {
  return {
    question: {
      id: questionId,
      type,
      instructions: textOf(instructions, values) ?? '',
      options: options.map((option, i) => ({ ...option, label: codes[i]!.text })),
    },
    ...(options.length === 1 ? nothingToRead : readingOf(read)),
    places,
  }
}

function listedOptions(
  question: Exclude<Question, NoulQuestion>,
  { values }: Family,
): readonly Unlabelled[] {
  if (question.type === 'choice') {
    return entriesOf(question.criteria).map(([key, description]) => ({
      key,
      description: textOf(description, values),
    }))
  }
  // Templates need a description of each level; a level without one gets its number.
  return question.criteria.map((level, i) => ({
    key: String(i),
    description: textOf(level, values) ?? '',
  }))
}

function noulOptions({ criteria }: NoulQuestion, { noul, values }: Family): readonly Unlabelled[] {
  const yes = { key: 'true', description: textOf(criteria?.true, values) }
  const no = { key: 'false', description: textOf(criteria?.false, values) }
  return noul === 'yes first' ? [yes, no] : [no, yes]
}

/** Null for a missing or empty text. */
function textOf(value: Json | undefined, form: Family['values']): string | null {
  return value === undefined || value === null || value === '' ? null : templateText(value, form)
}

const nothingToRead = { candidates: new Int32Array(), forms: [] }

function readingOf(codes: readonly Code[]): Pick<Asked, 'candidates' | 'forms'> {
  return {
    candidates: Int32Array.from(codes.flatMap(({ tokens }) => tokens)),
    forms: codes.map(({ tokens }) => tokens.length),
  }
}

function tooFew(what: string): OiError {
  return new OiError('ERR_READOUT', `labels: expected ${what} as single tokens`)
}
