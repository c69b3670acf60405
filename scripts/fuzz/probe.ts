/**
 * A request that is right, asked again and again: its answers must not change, whatever else the
 * server is sent.
 *
 * @module
 */

import { asking } from '../../test/helpers/request-text.js'
import { prepareRequest } from '../bench/connection.js'
import type { Case } from './cases.js'
import type { HttpReply } from '../reply-reader.js'

const body = asking(
  `{"7":{"type":"noul","instructions":"Is it?"},"team":{"type":"choice","criteria":{"b":1,"2":2,"1":3}},
    "size":{"type":"score","criteria":["s","m","l"]}}`,
  '"state":"It rains."',
)

/** A model may answer with slightly other numbers beside other requests. */
const tolerance = 1e-3

export class Probe {
  readonly sent: Case
  #first: readonly number[] | undefined

  constructor(key: string) {
    this.sent = { parts: [prepareRequest(key, body)], due: true }
  }

  /** @returns What is wrong with its answer, or undefined. */
  wrongIn({ status, body: bytes }: HttpReply): string | undefined {
    const text = bytes.toString('utf8')
    if (status !== 200) return `a right request got ${status}: ${text.slice(0, 300)}`
    const numbers = numbersOf(text)
    this.#first ??= numbers
    const first = this.#first
    const same =
      numbers.length === first.length &&
      numbers.length > 0 &&
      numbers.every((number, i) => Math.abs(number - first[i]!) <= tolerance)
    return same ? undefined : `a right request got another answer: ${text.slice(0, 500)}`
  }
}

/** Every number of the answers, in the order of the text; none if their names are not as asked. */
function numbersOf(text: string): readonly number[] {
  const [, answers] = /"answers":(\{.*\}),"usage"/s.exec(text) ?? []
  if (answers === undefined) return []
  const names = [...answers.matchAll(/"(7|team|size)":\{"type"/g)].map(([, name]) => name)
  if (names.join() !== '7,team,size') return []
  return [...answers.matchAll(/:(-?\d[\d.eE+-]*)/g)].map(([, number]) => Number(number))
}
