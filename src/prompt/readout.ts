/**
 * How one model is asked, and where its answers are read.
 *
 * Everything that depends on the model alone is found out once, when the readout is made.
 * Rendering a request is then pure string work.
 *
 * A request becomes one shared prefix (the layout's head, and the state with the line break
 * behind it, so that both are tokenized as running text) and one suffix for each question
 * (its wording, and the layout's tail). The caller's text is never in a trusted part.
 *
 * @module
 */

import { entriesOf, keysOf } from '../api/json.js'
import { placeOf } from '../api/place.js'
import type {
  ChoiceQuestion,
  DecideRequest,
  NoulQuestion,
  Question,
  ScoreQuestion,
} from '../decide/types.js'
import type { Engine, ModelInfo, PromptPart, ScoreInput, Suffix } from '../engine/types.js'
import { OiError } from '../errors.js'
import { renderChat } from './chat-template.js'
import { findLabels, findNoulTokens } from './labels.js'
import type { Label, NoulTokens } from './labels.js'
import * as letters from './letters.js'
import { plainLayout } from './plain-layout.js'
import type { Layout } from './plain-layout.js'
import { answerTail } from './thinking.js'

/** How the candidates of one question belong to its options. */
export interface Reader {
  readonly name: string
  readonly question: Question
  /**
   * Candidates of each option in turn; no before yes for a noul. Empty if there is only one
   * option, which needs no model.
   */
  readonly forms: readonly number[]
}

export interface Rendering {
  readonly input: ScoreInput
  /** One for each suffix, in order. */
  readonly readers: readonly Reader[]
}

export interface Readout {
  /** Name and version, as `letters@1`. */
  readonly name: string
  readonly labels: readonly string[]
  /** What counts as no and as yes: every form that is read, summed up. */
  readonly noulForms: { readonly no: readonly string[]; readonly yes: readonly string[] }
  /** Options of a choice and levels of a score at most, 2 to 255. */
  readonly maxOptions: number
  /**
   * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` if a question has more options than there
   *   are labels.
   */
  render(request: DecideRequest): Rendering
}

/**
 * Finds out how a model can be asked.
 *
 * @throws {@link OiError} `ERR_READOUT` if its template cannot be used, always thinks, or leaves
 *   no place for single-token labels.
 */
export async function createReadout(engine: Engine): Promise<Readout> {
  const layout = layoutOf(engine.info)
  const labels = await findLabels(engine, layout)
  return new LettersReadout(layout, labels, await findNoulTokens(engine, layout))
}

function layoutOf(info: ModelInfo): Layout {
  const layout = info.chatTemplate ? chatLayout(info.chatTemplate, info) : plainLayout
  const addsBos = info.metadata['tokenizer.ggml.add_bos_token'] === 'true'
  if (!addsBos || layout.head.startsWith(info.bosToken)) return layout
  return { ...layout, head: info.bosToken + layout.head }
}

function chatLayout(source: string, info: ModelInfo): Layout {
  const rendering = renderChat(source, info)
  const { head, between, replyTail } = rendering
  const tail = answerTail(rendering, source)
  return { head, between, tail, labelPrefix: replyTail === `${tail} ` ? ' ' : '' }
}

class LettersReadout implements Readout {
  readonly name = letters.lettersVersion
  readonly labels: readonly string[]
  readonly noulForms: Readout['noulForms']
  readonly maxOptions: number
  readonly #layout: Layout
  readonly #tokens: Int32Array
  /** Undefined if a noul is asked with letters. */
  readonly #noul: Omit<Asked, 'text'> | undefined
  readonly #tail: PromptPart

  constructor(layout: Layout, labels: readonly Label[], noul: NoulTokens | undefined) {
    this.labels = labels.map((label) => label.text)
    this.maxOptions = labels.length
    this.#layout = layout
    this.#tokens = Int32Array.from(labels, (label) => label.token)
    const texts = (forms: readonly Label[]) => forms.map((form) => form.text)
    this.noulForms = noul
      ? { no: texts(noul.no), yes: texts(noul.yes) }
      : { no: this.labels.slice(1, 2), yes: this.labels.slice(0, 1) }
    this.#noul = noul && {
      candidates: Int32Array.from([...noul.no, ...noul.yes], (form) => form.token),
      forms: [noul.no.length, noul.yes.length],
    }
    this.#tail = { text: layout.tail, trusted: true }
  }

  render(request: DecideRequest): Rendering {
    const { head, between } = this.#layout
    const state = { text: letters.stateText(request.state) + between, trusted: false }
    const prefix = head === '' ? [state] : [{ text: head, trusted: true }, state]

    const suffixes: Suffix[] = []
    const readers: Reader[] = []
    for (const [name, question] of entriesOf(request.questions)) {
      const { text, candidates, forms } = this.#ask(name, question)
      suffixes.push({ parts: [{ text, trusted: false }, this.#tail], candidates })
      readers.push({ name, question, forms })
    }
    return { input: { prefix, suffixes }, readers }
  }

  #ask(name: string, question: Question): Asked {
    if (question.type === 'noul') return this.#askNoul(question)

    const count = this.#countOptions(name, question)
    const text =
      question.type === 'choice'
        ? letters.choiceText(question, this.labels)
        : letters.scoreText(question, this.labels)
    if (count === 1) return { text, candidates: new Int32Array(), forms: [] }
    return {
      text,
      candidates: this.#tokens.subarray(0, count),
      forms: new Array<number>(count).fill(1),
    }
  }

  #askNoul(question: NoulQuestion): Asked {
    if (this.#noul !== undefined) return { text: letters.noulText(question), ...this.#noul }

    const [yes, no] = this.#tokens
    return {
      text: letters.noulChoiceText(question, this.labels),
      candidates: Int32Array.of(no!, yes!),
      forms: [1, 1],
    }
  }

  #countOptions(name: string, question: ChoiceQuestion | ScoreQuestion): number {
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

interface Asked {
  readonly text: string
  readonly candidates: Int32Array
  readonly forms: readonly number[]
}
