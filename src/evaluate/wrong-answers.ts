/**
 * The wrong answers that a model was surest of.
 *
 * @module
 */

import { entriesOf, isJsonObject, type Json, stringifyJson } from '../api/json.js'
import type { Outcome } from './figures/outcome.js'
import type { WrongAnswer } from './report.js'

const shownAnswers = 100
/** Kept length of a state. */
const longestState = 300

export class WrongAnswers {
  /** The surest first; of equal ones, the earlier line. */
  #surest: WrongAnswer[] = []

  /** @param question - Its name, shortened. */
  add(line: number, question: string, outcome: Outcome): void {
    const { correct, wanted, got, confidence, logLoss } = outcome
    if (correct) return
    const answer = { line, question, wanted, got, confidence, ofRight: Math.exp(-logLoss) }
    const last = this.#surest.at(-1)
    const isFull = this.#surest.length === shownAnswers
    if (isFull && last !== undefined && inOrder(last, answer) < 0) return
    const at = this.#surest.findIndex((each) => inOrder(answer, each) < 0)
    this.#surest.splice(at === -1 ? this.#surest.length : at, 0, answer)
    this.#surest = this.#surest.slice(0, shownAnswers)
  }

  get lines(): ReadonlySet<number> {
    return new Set(this.#surest.map(({ line }) => line))
  }

  /** @param states - By line. */
  list(states: ReadonlyMap<number, string>): WrongAnswer[] {
    return this.#surest.map((answer) => {
      const state = states.get(answer.line)
      return state === undefined ? answer : { ...answer, state }
    })
  }
}

function inOrder(a: WrongAnswer, b: WrongAnswer): number {
  return b.confidence - a.confidence || a.line - b.line
}

/** The beginning of a state, as text: of an object with one text alone, that text. */
export function beginningOf(state: Json): string {
  const [[, only] = [undefined, undefined], more] = isJsonObject(state) ? entriesOf(state) : []
  const value = more === undefined && typeof only === 'string' ? only : state
  const text = typeof value === 'string' ? value : stringifyJson(value)
  return text.length <= longestState ? text : `${text.slice(0, longestState - 1)}…`
}
