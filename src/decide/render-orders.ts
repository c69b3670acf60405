/**
 * Asks a request in several orders of its options. Models prefer some positions and labels,
 * whatever the option; the mean over orders reduces that bias.
 *
 * Each order of a question is a suffix of its own (or as many as its reading takes) after the same
 * state, so the state is evaluated once.
 *
 * Rules
 *   1. `2` is the given order and its reverse. For a choice, `all` is every rotation: each option
 *      stands once behind each label.
 *   2. Levels have an order of their own, which a rotation would break: for a score, `all` is `2`,
 *      and the readout says that its levels go from the highest to the lowest.
 *   3. The answers of a noul are fixed words, and the caller gives them no order. Only the order in
 *      which the readout lists them can change; if it lists nothing, both orders read the same, and
 *      the question is asked once.
 *   4. A permuted question is rendered like any other, so this works for every readout, except one
 *      that itself defines the orders in which its model is asked.
 *   5. The added orders are bounded before any of them is rendered.
 *
 * @module
 */

import { entriesOf, objectFromEntries } from '../api/json.js'
import { optionCount } from '../api/counts.js'
import type { Orders } from '../api/orders.js'
import { placeOf } from '../api/place.js'
import type { Suffix } from '../engine/types.js'
import { OiError } from '../errors.js'
import type { Reader, Readout, Rendering } from '../prompt/types.js'
import { suffixesOf } from '../scoring/option-logits.js'
import type { OrdersReading } from '../scoring/types.js'
import type { DecideRequest, Question, RequestImages } from './types.js'

/**
 * Orders of all questions of a request together: twice the maximum number of questions, so 2 always
 * fits.
 */
export const mostOrders = 512

/**
 * UTF-16 units that the orders beyond the first may add to a request: as many as a body has bytes.
 */
export const mostAddedText = 4_194_304

type Order = OrdersReading['orders'][number]

/** The part of both bounds that a request has used. */
interface Spent {
  count: number
  text: number
}

interface Asked {
  readonly reader: Reader
  /** The suffixes in the caller's order. */
  readonly suffixes: readonly Suffix[]
  /** The number of orders, the given one included. */
  readonly count: number
  /** The other orders, and their suffixes. */
  readonly others: { readonly order: Order; readonly suffixes: readonly Suffix[] }[]
}

/**
 * Renders a request, each question in as many orders as `orders` says.
 *
 * @param images - As of {@link Readout.render}.
 * @param spent - The bounds that other questions of the request have used; added to.
 * @throws {@link OiError} `ERR_REQUEST_UNACCEPTABLE` as {@link Readout.render}, and beyond {@link
 *   mostOrders} or {@link mostAddedText}, naming the question that exceeds it.
 */
export function renderInOrders(
  readout: Readout,
  request: DecideRequest,
  images: RequestImages | undefined,
  orders: Orders,
  spent: Spent = { count: 0, text: 0 },
): Rendering {
  const given = readout.render(request, images)
  if (orders === 1 || readout.ownOrders) return given
  const asked = bySuffixes(given).map(({ reader, suffixes }): Asked => ({
    reader,
    suffixes,
    count: orderCount(reader, orders),
    others: [],
  }))
  requireBounded(asked, orders, spent)

  const most = asked.reduce((count, question) => Math.max(count, question.count), 1)
  for (let turn = 1; turn < most; turn++) {
    const again = asked
      .filter(({ count }) => turn < count)
      .map((own) => ({ own, places: placesIn(own.reader.question, orders, turn) }))
    const questions = objectFromEntries(
      again.map(({ own: { reader }, places }) => {
        return [reader.name, permuted(reader.question, places)] as const
      }),
    )
    // The prefix with the state exists already.
    bySuffixes(readout.render({ state: '', questions }, undefined, true)).forEach(
      ({ reader: { reading }, suffixes }, i) => {
        const { own, places } = again[i]!
        if (reading.kind === 'orders' || readTheSame(suffixes, own.suffixes)) return
        const repeated = suffixes.map((suffix) => ({ ...suffix, counts: [] }))
        own.others.push({ order: { places, reading }, suffixes: repeated })
      },
    )
  }
  return {
    input: {
      prefix: given.input.prefix,
      suffixes: asked.flatMap(({ suffixes, others }) => [
        ...suffixes,
        ...others.flatMap((other) => other.suffixes),
      ]),
    },
    readers: asked.map(readerOf),
  }
}

/** Groups a rendering's readers with the suffixes that they take. */
function bySuffixes({ input, readers }: Rendering) {
  let at = 0
  return readers.map((reader) => {
    const start = at
    at += suffixesOf(reader.reading)
    return { reader, suffixes: input.suffixes.slice(start, at) }
  })
}

function readerOf({ reader, others }: Asked): Reader {
  const { question, reading } = reader
  if (reading.kind === 'orders' || others.length === 0) return reader
  const places = Array.from({ length: optionCount(question) }, (_, option) => option)
  const orders = [{ places, reading }, ...others.map(({ order }) => order)]
  return { ...reader, reading: { kind: 'orders', orders } }
}

function orderCount({ question, reading }: Reader, orders: Orders): number {
  const options = optionCount(question)
  if (options === 1 || reading.kind === 'orders') return 1
  return orders === 'all' && question.type === 'choice' ? options : 2
}

/** The place of each option. A noul is read as no, then yes, however they are listed. */
function placesIn(question: Question, orders: Orders, turn: number): readonly number[] {
  const count = optionCount(question)
  const rotated = orders === 'all' && question.type === 'choice'
  return Array.from({ length: count }, (_, option) => {
    if (question.type === 'noul') return option
    return rotated ? (option + turn) % count : count - 1 - option
  })
}

function permuted(question: Question, places: readonly number[]): Question {
  if (question.type === 'noul') return question
  if (question.type === 'score') {
    return { ...question, criteria: moved(question.criteria, places) }
  }
  const criteria = objectFromEntries(moved(entriesOf(question.criteria), places))
  return { ...question, criteria }
}

function moved<T>(items: readonly T[], places: readonly number[]): T[] {
  const result: T[] = []
  for (const [item, place] of places.entries()) result[place] = items[item]!
  return result
}

function readTheSame(some: readonly Suffix[], others: readonly Suffix[]): boolean {
  const same = <T>(a: ArrayLike<T>, b: ArrayLike<T>, equal: (a: T, b: T) => boolean) =>
    a.length === b.length && Array.from(a).every((item, i) => equal(item, b[i]!))
  return same(some, others, (a, b) => {
    const sameParts = same(a.parts, b.parts, (one, other) => one.text === other.text)
    return sameParts && same(a.candidates, b.candidates, (one, other) => one === other)
  })
}

function requireBounded(asked: readonly Asked[], orders: Orders, spent: Spent): void {
  for (const { reader, suffixes, count: own } of asked) {
    const length = suffixes
      .flatMap(({ parts }) => parts)
      .reduce((sum, part) => sum + part.text.length, 0)
    spent.count += own
    // The other orders are about as long as the given one.
    spent.text += (own - 1) * length
    const { count, text } = spent
    if (count > mostOrders) {
      throw excess(reader.name, `${mostOrders} orders of all questions together`, count, orders)
    }
    if (text > mostAddedText) {
      throw excess(reader.name, `${mostAddedText} characters of added orders`, text, orders)
    }
  }
}

function excess(name: string, limit: string, got: number, orders: Orders): OiError {
  const param = placeOf(placeOf('questions', name), 'criteria')
  const message = `expected at most ${limit}, got ${got} with this question (orders: ${orders})`
  return new OiError('ERR_REQUEST_UNACCEPTABLE', `${param}: ${message}`, { param })
}
