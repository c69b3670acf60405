/**
 * A decision model's own template (`tokenizer.chat_template.systemone`), cut into the texts around
 * a request.
 *
 * It is Jinja with the variables `id`, `type`, `instructions`, `state`, `options` (each with `key`,
 * `description` and `label`), `questions` and `images`. A caller's text passes through it as
 * values, and its output is tokenized as plain text; only the template's own text before the state
 * and behind the question is trusted.
 *
 * Rules
 *   1. The state occurs once, before all other text of a caller: questions share it.
 *   2. Control tokens are found by tokenizing the template's text. They stand before the state and
 *      behind the question, never between.
 *   3. The text before the state may depend on the question, but must equal that of one of the
 *      examples that the template was tried with. No other text is trusted.
 *   4. A prompt has the same tokens as if tokenized in one piece.
 *
 * @module
 */

import { Template } from '@huggingface/jinja'
import type { Engine } from '../../engine/types.js'
import { OiError } from '../../errors.js'
import { type Borders, findBorders, type Split } from './borders.js'
import { exampleQuestions, type TemplateQuestion } from './template-question.js'

/** A question as the template wrote it. */
export interface RenderedQuestion {
  /** Before the state: trusted text that ends with a control token, and plain text behind it. */
  readonly head: string
  readonly lead: string
  /** Behind the state and `between`: plain text with the caller's. */
  readonly text: string
}

// Letters and digits only: no filter of a template changes them.
const stateSentinel = 'oiState9c41e7'

export class SystemoneTemplate {
  readonly #template: Template
  readonly #borders: Borders
  /** The template's texts around the state of one question. */
  readonly #around: Split
  readonly #example: TemplateQuestion

  private constructor(template: Template, borders: Borders, example: TemplateQuestion) {
    this.#template = template
    this.#borders = borders
    this.#example = example
    this.#around = split(template, example)
  }

  /**
   * Parses a template and tries it with examples.
   *
   * @param most - The most options of a question.
   * @throws {@link OiError} `ERR_READOUT` if it cannot be parsed or rendered, or breaks a rule.
   */
  static async create(source: string, engine: Engine, most: number): Promise<SystemoneTemplate> {
    let template: Template
    try {
      template = new Template(source)
    } catch (cause) {
      throw unusable(`cannot be parsed: ${(cause as Error).message}`, cause)
    }
    const examples = exampleQuestions(most)
    const around = examples.map((question) => split(template, question))
    const borders = await findBorders(engine, stateSentinel, around)
    return new SystemoneTemplate(template, borders, examples[0]!)
  }

  /** Behind the state, the same for all questions; plain text. */
  get between(): string {
    return this.#borders.between
  }

  /** Behind the question; trusted. The label follows at once. */
  get tail(): string {
    return this.#borders.tail
  }

  /** The common beginning of all heads, up to a control token. */
  get commonHead(): string {
    return this.#borders.commonHead
  }

  /**
   * The state as the template writes it: plain text.
   *
   * @param state - As text; see `template-text.ts`.
   * @throws {@link OiError} `ERR_READOUT` if the template writes other texts around this state than
   *   around others.
   */
  state(state: string): string {
    const { before, behind } = this.#around
    const text = render(this.#template, this.#example, state)
    const length = text.length - before.length - behind.length
    if (length < 0 || !text.startsWith(before) || !text.endsWith(behind)) {
      throw unusable('writes something else around this state than around others')
    }
    return text.slice(before.length, before.length + length)
  }

  /**
   * @throws {@link OiError} `ERR_READOUT` if the template writes texts that it wrote for no
   * example.
   */
  question(question: TemplateQuestion): RenderedQuestion {
    const { before, behind } = split(this.#template, question)
    const { heads, between, tail } = this.#borders
    const head = heads.get(before)
    const length = behind.length - between.length - tail.length
    const fits = length >= 0 && behind.startsWith(between) && behind.endsWith(tail)
    if (head === undefined || !fits) {
      throw unusable('writes a text around this question that it wrote around no example')
    }
    const text = behind.slice(between.length, between.length + length)
    return { head, lead: before.slice(head.length), text }
  }
}

function split(template: Template, question: TemplateQuestion): Split {
  const text = render(template, question, stateSentinel)
  // The first: behind it, a caller's text may contain the sentinel too.
  const at = text.indexOf(stateSentinel)
  if (at === -1) throw unusable('does not show the state')
  return { before: text.slice(0, at), behind: text.slice(at + stateSentinel.length) }
}

function render(template: Template, question: TemplateQuestion, state: string): string {
  try {
    return template.render({ ...question, questions: [question], state, images: [] })
  } catch (cause) {
    throw unusable((cause as Error).message, cause)
  }
}

function unusable(reason: string, cause?: unknown): OiError {
  return new OiError('ERR_READOUT', `systemone template: ${reason}`, { cause })
}
