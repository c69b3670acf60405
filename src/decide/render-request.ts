/**
 * Renders requests. A request with many options or a large state is rendered in steps, as it would
 * block the event loop for long.
 *
 * Rules
 *   1. Some questions at a time, each group as a request of its own. A readout whose questions
 *      depend on each other prepares them one by one instead.
 *   2. Shared questions (the same object: in the items of a batch, and in requests with the same
 *      questions) are rendered once; after that, only the state is rendered. The rendering is kept
 *      as long as that object.
 *
 * @module
 */

import { isLarge, isShared, keysOf, objectFromEntries } from '../api/json.js'
import type { Json, JsonObject } from '../api/json.js'
import { optionCount } from '../api/counts.js'
import type { Orders } from '../api/orders.js'
import type { Steps } from '../api/turns.js'
import type { Suffix } from '../engine/types.js'
import type { Reader, Readout, Rendering } from '../prompt/types.js'
import { renderInOrders } from './render-orders.js'
import type { DecideRequest, Question, RequestImages } from './types.js'

/** This many options are rendered and answered quickly. */
const fewOptions = 512

interface Rendered {
  readonly orders: Orders
  readonly suffixes: readonly Suffix[]
  readonly readers: readonly Reader[]
}

/** Whether rendering a request takes steps. */
export function isLargeRequest({ state, questions }: DecideRequest): boolean {
  if (isLarge(state)) return true
  let count = 0
  for (const name of keysOf(questions)) {
    count += optionCount(questions[name]!)
    if (count > fewOptions) return true
  }
  return false
}

export class RequestRenderer {
  readonly #readout: Readout
  readonly #rendered = new WeakMap<DecideRequest['questions'], Rendered>()

  constructor(readout: Readout) {
    this.#readout = readout
  }

  /** As {@link renderInOrders}, for few options and a short state. */
  renderNow(request: DecideRequest, images: RequestImages | undefined, orders: Orders): Rendering {
    const { questions } = request
    if (!isShared(questions) || this.#readout.prepare !== undefined) {
      return renderInOrders(this.#readout, request, images, orders)
    }
    const rendered = this.#rendered.get(questions)
    if (rendered?.orders === orders) return this.#behindState(rendered, request, images)
    const rendering = renderInOrders(this.#readout, request, images, orders)
    const { readers } = rendering
    this.#rendered.set(questions, { orders, suffixes: rendering.input.suffixes, readers })
    return rendering
  }

  /** As {@link renderInOrders}, in steps. */
  *render(
    request: DecideRequest,
    images: RequestImages | undefined,
    orders: Orders,
  ): Steps<Rendering> {
    const { state, questions } = request
    if (isLarge(state)) yield* this.#readout.writeState(state as Json[] | JsonObject, images)
    if (this.#readout.prepare !== undefined) {
      for (const name of keysOf(questions)) {
        this.#readout.prepare(name, questions[name]!)
        yield
      }
      return renderInOrders(this.#readout, request, images, orders)
    }
    let rendered = this.#rendered.get(questions)
    if (rendered?.orders !== orders) {
      rendered = yield* this.#renderQuestions(questions, orders)
      this.#rendered.set(questions, rendered)
    }
    return this.#behindState(rendered, request, images)
  }

  #behindState(
    { suffixes, readers }: Rendered,
    { state }: DecideRequest,
    images: RequestImages | undefined,
  ): Rendering {
    // The state alone: its part of the prompt does not depend on the questions.
    const { prefix } = this.#readout.render({ state, questions: {} }, images).input
    return { input: { prefix, suffixes }, readers }
  }

  *#renderQuestions(questions: DecideRequest['questions'], orders: Orders): Steps<Rendered> {
    const suffixes: Suffix[] = []
    const readers: Reader[] = []
    const spent = { count: 0, text: 0 }
    for (const group of groupsOf(questions)) {
      const part = { state: '', questions: group }
      const { input, readers: own } = renderInOrders(this.#readout, part, undefined, orders, spent)
      suffixes.push(...input.suffixes)
      readers.push(...own)
      yield
    }
    return { orders, suffixes, readers }
  }
}

function* groupsOf(questions: DecideRequest['questions']): Generator<DecideRequest['questions']> {
  let group: [string, Question][] = []
  let count = 0
  for (const name of keysOf(questions)) {
    const question = questions[name]!
    group.push([name, question])
    count += optionCount(question)
    if (count < fewOptions) continue
    yield objectFromEntries(group)
    group = []
    count = 0
  }
  if (group.length > 0) yield objectFromEntries(group)
}
