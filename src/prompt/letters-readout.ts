/**
 * The readout of any instruct model: options behind labels, in the wording of `letters.ts` or the
 * user's own.
 *
 * @module
 */

import { entriesOf, isLarge, keysOf } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import { stringifyInSteps } from '../api/json-writer.js'
import { mostOptions } from '../api/limits.js'
import type { Orders } from '../api/orders.js'
import { placeOf } from '../api/place.js'
import type { Steps } from '../api/turns.js'
import type { DecideRequest, NoulQuestion, Question, RequestImages } from '../decide/types.js'
import type { PromptPart, Suffix } from '../engine/types.js'
import { OiError } from '../errors.js'
import { askByCodes } from './ask-by-codes.js'
import { askInGroups } from './ask-in-groups.js'
import type { Asked, AskedSuffix } from './asked.js'
import { type Code, mostCodes } from './codes.js'
import type { CustomReadout } from './custom/types.js'
import type { Label, NoulTokens } from './labels.js'
import * as letters from './letters.js'
import type { LettersVersion, ListQuestion } from './letters.js'
import type { Temperature } from '../scoring/types.js'
import type { Layout } from './plain-layout.js'
import type { Reader, Readout, Rendering } from './types.js'
import { stateParts, statePartsInSteps, wrapText } from './state-parts.js'

export interface LettersParts {
  readonly layout: Layout
  /** Two or more labels, or none if there are codes. */
  readonly labels: readonly Label[]
  /** Sets by length; none if labels and groups reach every question. */
  readonly codes: readonly (readonly Code[])[]
  /** Undefined if a noul is asked with labels. */
  readonly noul: NoulTokens | undefined
  /** `letters@1` by default. */
  readonly version?: LettersVersion
  readonly custom?: CustomReadout
}

export class LettersReadout implements Readout {
  readonly name: string
  readonly labels: readonly string[]
  readonly codes: readonly string[]
  readonly noulForms: Readout['noulForms']
  readonly maxOptions: number
  readonly tokenTexts: ReadonlyMap<number, string>
  readonly temperatures?: readonly Temperature[]
  readonly orders?: Orders
  readonly #layout: Layout
  readonly #version: LettersVersion
  readonly #wording: letters.Wording
  readonly #tokens: Int32Array
  readonly #codes: readonly (readonly Code[])[]
  /** Undefined if a noul is asked with labels. */
  readonly #noul: { readonly candidates: Int32Array; readonly forms: readonly number[] } | undefined
  /** A frame's own text behind the state. */
  readonly #turn: PromptPart | undefined
  readonly #tail: PromptPart
  /** Texts of large states, written in advance. */
  readonly #written = new WeakMap<object, readonly PromptPart[]>()

  constructor({ layout, labels, codes, noul, version = letters.lettersOne, custom }: LettersParts) {
    const fallback = codes.length > 0 ? '+trie' : labels.length < mostOptions ? '+groups' : ''
    this.name = custom?.name ?? version.name + fallback
    if (custom?.temperatures) this.temperatures = custom.temperatures
    if (custom?.orders) this.orders = custom.orders
    this.#version = version
    this.#wording = custom?.wording ?? version
    this.labels = labels.map((label) => label.text)
    this.codes = (codes.at(-1) ?? []).map((code) => code.text)
    this.maxOptions = mostOptionsOf(labels, codes, custom)
    this.#layout = layout
    this.#tokens = Int32Array.from(labels, (label) => label.token)
    this.#codes = codes
    const [yes, no] = this.#codesFor(2)?.map((code) => code.text) ?? this.labels
    const texts = (forms: readonly Label[]) => forms.map((form) => form.text)
    this.noulForms = noul
      ? { no: texts(noul.no), yes: texts(noul.yes) }
      : { no: [no!], yes: [yes!] }
    this.#noul = noul && {
      candidates: Int32Array.from([...noul.no, ...noul.yes], (form) => form.token),
      forms: [noul.no.length, noul.yes.length],
    }
    const forms = noul ? [...noul.no, ...noul.yes] : []
    this.tokenTexts = new Map(
      [...labels, ...forms, ...codes.flat().flatMap(piecesOf)].map(({ token, text }) => [
        token,
        text,
      ]),
    )
    this.#turn = layout.turn ? { text: layout.turn, trusted: true } : undefined
    this.#tail = { text: layout.tail, trusted: true }
  }

  render(request: DecideRequest, images?: RequestImages, reversed = false): Rendering {
    const { head, between } = this.#layout
    const state = this.#stateParts(request.state, images, between)
    if (this.#turn !== undefined) state.push(this.#turn)
    const prefix = head === '' ? state : [{ text: head, trusted: true }, ...state]

    const suffixes: Suffix[] = []
    const readers: Reader[] = []
    for (const [name, question] of entriesOf(request.questions)) {
      const asked = this.#ask(name, question, reversed)
      for (const suffix of asked.suffixes) suffixes.push(this.#suffix(suffix))
      readers.push({ name, question, reading: asked.reading })
    }
    return { input: { prefix, suffixes }, readers }
  }

  *writeState(state: Json[] | JsonObject, images?: RequestImages): Steps<void> {
    const parts: PromptPart[] = images
      ? yield* statePartsInSteps(state, images, '')
      : [{ text: yield* stringifyInSteps(state), trusted: false }]
    this.#written.set(state, parts)
  }

  #stateParts(state: Json, images: RequestImages | undefined, between: string): PromptPart[] {
    const written = isLarge(state) ? this.#written.get(state as object) : undefined
    const parts: readonly PromptPart[] =
      written ??
      (images
        ? stateParts(state, images, '')
        : [{ text: letters.stateText(state), trusted: false }])
    const { before, behind } = this.#version.aroundState(parts.map(({ text }) => text).join(''))
    return wrapText(before, parts, behind + between)
  }

  #suffix({ text, begun = '', candidates }: AskedSuffix): Suffix {
    const tail = begun === '' ? this.#tail : { text: this.#layout.tail + begun, trusted: true }
    return { parts: [{ text, trusted: false }, tail], candidates }
  }

  #ask(name: string, question: Question, reversed: boolean): Asked {
    if (question.type === 'noul') return this.#askNoul(question, reversed)

    const count = this.#countOptions(name, question)
    if (count > this.labels.length && this.#codes.length === 0) {
      return askInGroups(question, this.labels, this.#tokens, reversed, this.#version)
    }
    return this.#askAtOnce(count, (labels) =>
      question.type === 'choice'
        ? this.#wording.choiceText(question, labels)
        : this.#wording.scoreText(question, labels, reversed),
    )
  }

  /** The reading is no, then yes, in whichever order they are listed. */
  #askNoul(question: NoulQuestion, reversed: boolean): Asked {
    if (this.#noul === undefined) {
      const asked = this.#askAtOnce(2, (labels) => {
        return this.#wording.noulChoiceText(question, labels, reversed)
      })
      return reversed ? asked : turned(asked)
    }
    const { candidates, forms } = this.#noul
    return {
      suffixes: [{ text: this.#wording.noulText(question, reversed), candidates }],
      reading: { kind: 'labels', forms },
    }
  }

  /** Asks with labels, or with codes if there are too few labels. */
  #askAtOnce(count: number, textWith: (labels: readonly string[]) => string): Asked {
    const codes = this.#codesFor(count)
    const text = textWith(codes?.map((code) => code.text) ?? this.labels)
    if (count === 1) {
      const candidates = new Int32Array()
      return { suffixes: [{ text, candidates }], reading: { kind: 'labels', forms: [] } }
    }
    if (codes !== undefined) return askByCodes(text, codes.slice(0, count))
    return {
      suffixes: [{ text, candidates: this.#tokens.subarray(0, count) }],
      reading: { kind: 'labels', forms: new Array<number>(count).fill(1) },
    }
  }

  /** The shortest codes for so many options, if there are too few labels and enough codes. */
  #codesFor(count: number): readonly Code[] | undefined {
    if (count <= this.labels.length) return undefined
    return this.#codes.find((codes) => codes.length >= count)
  }

  #countOptions(name: string, question: ListQuestion): number {
    const [count, noun] =
      question.type === 'choice'
        ? [keysOf(question.criteria).length, 'options']
        : [question.criteria.length, 'levels']
    if (count <= this.maxOptions) return count
    const param = placeOf(placeOf('questions', name), 'criteria')
    throw new OiError(
      'ERR_REQUEST_UNACCEPTABLE',
      `${param}: expected 1 to ${this.maxOptions} ${noun}, got ${count}`,
      { param },
    )
  }
}

/** The same question of two options, with the second option read first. */
function turned({ suffixes, reading }: Asked): Asked {
  if (reading.kind === 'steps') {
    return { suffixes, reading: { ...reading, options: reading.options.toReversed() } }
  }
  return {
    suffixes: suffixes.map((suffix) => {
      return { ...suffix, candidates: suffix.candidates.toReversed() }
    }),
    reading,
  }
}

/** A user's own wording has no groups. */
function mostOptionsOf(
  labels: readonly Label[],
  codes: LettersParts['codes'],
  custom: CustomReadout | undefined,
): number {
  if (codes.length > 0) return mostCodes(codes)
  return custom ? labels.length : Math.min(mostOptions, labels.length ** 2)
}

/** The tokens of a code with their pieces of its text. */
function piecesOf({ text, steps }: Code): { readonly token: number; readonly text: string }[] {
  const whole = steps[1]?.before.startsWith(' ') ? ` ${text}` : text
  return steps.map(({ before, token }, i) => ({
    token,
    text: whole.slice(before.length, steps[i + 1]?.before.length),
  }))
}
