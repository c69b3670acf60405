/**
 * The readout of any instruct model: options behind labels, in the wording of `letters.ts` or the
 * user's own.
 *
 * @module
 */

import { optionCount, tooManyOptions } from '../api/counts.js'
import { entriesOf, isLarge } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import { stringifyInSteps } from '../api/json-writer.js'
import { mostOptions } from '../api/limits.js'
import type { Orders } from '../api/orders.js'
import type { Steps } from '../api/turns.js'
import type { DecideRequest, NoulQuestion, Question, RequestImages } from '../decide/types.js'
import type { PromptPart, Suffix } from '../engine/types.js'
import type { LabelReading } from '../scoring/types.js'
import type { CustomReadout } from './custom/types.js'
import type { Label, NoulTokens } from './labels.js'
import * as letters from './letters.js'
import type { LettersVersion } from './letters.js'
import type { Temperature } from '../scoring/types.js'
import type { Layout } from './plain-layout.js'
import type { Reader, Readout, Rendering } from './types.js'
import { stateParts, statePartsInSteps, wrapText } from './state-parts.js'

interface LettersParts {
  readonly layout: Layout
  /** Two or more. */
  readonly labels: readonly Label[]
  /** Undefined if a noul is asked with labels. */
  readonly noul: NoulTokens | undefined
  /** `letters@1` by default. */
  readonly version?: LettersVersion
  readonly custom?: CustomReadout
}

/** A rendered question: its suffix, and how its answer is read behind it. */
interface Asked {
  /** The wording with the caller's text: never trusted. */
  readonly text: string
  readonly candidates: Int32Array
  readonly reading: LabelReading
}

export class LettersReadout implements Readout {
  readonly name: string
  readonly labels: readonly string[]
  readonly noulForms: Readout['noulForms']
  readonly maxOptions: number
  readonly tokenTexts: ReadonlyMap<number, string>
  readonly temperatures?: readonly Temperature[]
  readonly orders?: Orders
  readonly #layout: Layout
  readonly #version: LettersVersion
  readonly #wording: letters.Wording
  readonly #tokens: Int32Array
  /** Undefined if a noul is asked with labels. */
  readonly #noul: { readonly candidates: Int32Array; readonly forms: readonly number[] } | undefined
  /** A frame's own text behind the state. */
  readonly #turn: PromptPart | undefined
  readonly #tail: PromptPart
  /** Texts of large states, written in advance. */
  readonly #written = new WeakMap<object, readonly PromptPart[]>()

  constructor({ layout, labels, noul, version = letters.lettersOne, custom }: LettersParts) {
    this.name = custom?.name ?? version.name
    if (custom?.temperatures) this.temperatures = custom.temperatures
    if (custom?.orders) this.orders = custom.orders
    this.#version = version
    this.#wording = custom?.wording ?? version
    this.labels = labels.map((label) => label.text)
    this.maxOptions = Math.min(mostOptions, labels.length)
    this.#layout = layout
    this.#tokens = Int32Array.from(labels, (label) => label.token)
    const [yes, no] = this.labels
    const texts = (forms: readonly Label[]) => forms.map((form) => form.text)
    this.noulForms = noul
      ? { no: texts(noul.no), yes: texts(noul.yes) }
      : { no: [no!], yes: [yes!] }
    this.#noul = noul && {
      candidates: Int32Array.from([...noul.no, ...noul.yes], (form) => form.token),
      forms: [noul.no.length, noul.yes.length],
    }
    const forms = noul ? [...noul.no, ...noul.yes] : []
    this.tokenTexts = new Map([...labels, ...forms].map(({ token, text }) => [token, text]))
    this.#turn = layout.turn ? { text: layout.turn, trusted: true } : undefined
    this.#tail = { text: layout.tail, trusted: true }
  }

  render(request: DecideRequest, images?: RequestImages, reversed = false): Rendering {
    const { head, between, lead = '' } = this.#layout
    const state = this.#stateParts(request.state, images, between)
    if (this.#turn !== undefined) state.push(this.#turn)
    const prefix = head === '' ? state : [{ text: head, trusted: true }, ...state]

    const suffixes: Suffix[] = []
    const readers: Reader[] = []
    for (const [name, question] of entriesOf(request.questions)) {
      const { text, candidates, reading } = this.#ask(name, question, reversed)
      suffixes.push({ parts: [{ text: lead + text, trusted: false }, this.#tail], candidates })
      readers.push({ name, question, reading })
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

  #ask(name: string, question: Question, reversed: boolean): Asked {
    if (question.type === 'noul') return this.#askNoul(question, reversed)

    const count = optionCount(question)
    if (count > this.maxOptions) throw tooManyOptions(name, question, this.maxOptions)
    return this.#askWithLabels(
      count,
      question.type === 'choice'
        ? this.#wording.choiceText(question, this.labels)
        : this.#wording.scoreText(question, this.labels, reversed),
    )
  }

  /** The reading is no, then yes, in whichever order they are listed. */
  #askNoul(question: NoulQuestion, reversed: boolean): Asked {
    if (this.#noul === undefined) {
      const text = this.#wording.noulChoiceText(question, this.labels, reversed)
      const asked = this.#askWithLabels(2, text)
      // The first label is yes, unless reversed.
      return reversed ? asked : { ...asked, candidates: asked.candidates.toReversed() }
    }
    const { candidates, forms } = this.#noul
    const text = this.#wording.noulText(question, reversed)
    return { text, candidates, reading: { kind: 'labels', forms } }
  }

  #askWithLabels(count: number, text: string): Asked {
    // A single option needs no model.
    const candidates = this.#tokens.subarray(0, count === 1 ? 0 : count)
    const forms = new Array<number>(candidates.length).fill(1)
    return { text, candidates, reading: { kind: 'labels', forms } }
  }
}
