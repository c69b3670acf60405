/**
 * Mixed requests like those of a real server: new and repeated states, any number and type of
 * questions, bad requests, and clients that leave.
 *
 * @module
 */

import { createRandom, type Random } from '../../test/helpers/random.js'
import { preparePost } from './connection.js'
import { randomText } from './texts.js'

/** The behaviour of one client. */
interface Visit {
  readonly bytes: Buffer
  /** The status that is right; undefined if the client leaves without waiting for one. */
  readonly status: number | undefined
  /** When the client leaves. */
  readonly leaveAfterMs: number
}

const path = '/v1/systemone'
/** States that may be asked about again. */
const remembered = 64
const maxStateWords = 200
const maxQuestions = 12
const maxQuestionWords = 20
const maxLeaveMs = 20

const shares = { bad: 0.1, leaves: 0.1, repeated: 0.4 }

const bad: readonly { path: string; body: string; withKey: boolean; status: number }[] = [
  { path, body: '{"state":', withKey: true, status: 422 },
  { path, body: '{"state":"s"}', withKey: true, status: 422 },
  { path, body: '{"state":"s","questions":{"q":{"type":"bool"}}}', withKey: true, status: 400 },
  { path, body: '{}', withKey: false, status: 401 },
  { path: '/v1/nothing', body: '{}', withKey: true, status: 404 },
]

export class Traffic {
  readonly #keys: readonly string[]
  readonly #random: Random
  readonly #states: string[] = []

  /** @param keys - Each request has one of them. @param seed - The same gives the same visits. */
  constructor(keys: readonly string[], seed: number) {
    this.#keys = keys
    this.#random = createRandom(seed)
  }

  next(): Visit {
    const key = this.#random.pick(this.#keys)
    if (this.#random.next() < shares.bad) {
      const { path, body, withKey, status } = this.#random.pick(bad)
      const bytes = preparePost(path, body, withKey ? key : undefined)
      return { bytes, status, leaveAfterMs: 0 }
    }
    const body = JSON.stringify({ state: this.#state(), questions: this.#questions() })
    const bytes = preparePost(path, body, key)
    if (this.#random.next() >= shares.leaves) return { bytes, status: 200, leaveAfterMs: 0 }
    // In the head, in the body, or during the decision.
    const sent = Math.ceil(this.#random.next() * bytes.length * 2)
    const leaveAfterMs = this.#random.integer(maxLeaveMs)
    return { bytes: bytes.subarray(0, sent), status: undefined, leaveAfterMs }
  }

  #state(): string {
    if (this.#states.length > 0 && this.#random.next() < shares.repeated) {
      return this.#random.pick(this.#states)
    }
    const state = this.#text(maxStateWords)
    this.#states.push(state)
    if (this.#states.length > remembered) this.#states.shift()
    return state
  }

  #questions() {
    const count = 1 + this.#random.integer(maxQuestions)
    return Object.fromEntries(Array.from({ length: count }, (_, i) => [`q${i}`, this.#question()]))
  }

  #question() {
    const instructions = this.#text(maxQuestionWords)
    return this.#random.pick([
      { type: 'noul', instructions },
      { type: 'choice', instructions, criteria: { a: this.#text(5), b: null, c: this.#text(5) } },
      { type: 'score', instructions, criteria: ['none', 'some', 'much', 'all'] },
    ])
  }

  #text(maxWords: number): string {
    return randomText(1 + this.#random.integer(maxWords), () => this.#random.next())
  }
}
