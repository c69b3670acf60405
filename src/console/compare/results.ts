/**
 * Answers of a comparison: a few requests at a time, with outcomes kept by request, so that
 * unchanged requests are not repeated.
 *
 * @module
 */

import type { Answer, Reply } from '../playground/answer.js'
import { bodyOf } from '../playground/draft.js'
import { decide } from '../playground/run.js'
import type { ApiError } from '../server.js'
import { asApiError } from '../use-load.js'
import { type Case, expectedOf, isRight, stateOf } from './cases.js'
import { type CompareColumn, inColumn } from './columns.js'

/** One request: its orders and its body. */
export interface Ask {
  readonly key: string
  readonly body: string
  readonly orders: string
}

export type Outcome = { readonly reply: Reply } | { readonly error: ApiError }
export type Outcomes = ReadonlyMap<string, Outcome>

/**
 * @param common - JSON of the questions of all cases that have none of their own.
 * @returns Undefined while the case has no state or no questions.
 */
export function askOf(
  one: Case,
  column: CompareColumn,
  common: string | undefined,
): Ask | undefined {
  const state = stateOf(one)
  const { questions = common, images } = one
  if (state === undefined || questions === undefined) return undefined
  const { model, orders } = column
  const body = bodyOf(state, questions, { model, images })
  return { key: `${orders}|${body}`, body, orders }
}

/**
 * Concurrent requests: enough to keep the model busy, few enough for other callers to get through.
 */
const lanes = 4

/**
 * Sends all requests without an outcome. Failures are outcomes; only an unreachable server ends it.
 */
export async function askAll(
  asks: readonly Ask[],
  signal: AbortSignal,
  onOutcome: (key: string, outcome: Outcome) => void,
): Promise<void> {
  const queue = [...new Map(asks.map((ask) => [ask.key, ask])).values()]
  const lane = async () => {
    for (let ask = queue.shift(); ask !== undefined && !signal.aborted; ask = queue.shift()) {
      try {
        onOutcome(ask.key, { reply: (await decide(ask.body, ask.orders, signal)).reply })
      } catch (failure) {
        if (signal.aborted) return
        const error = asApiError(failure)
        onOutcome(ask.key, { error })
        if (error.status === 0 || error.status === 401) queue.length = 0
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

interface Cell {
  readonly answers: readonly Answer[]
  /** By question: whether the answer differs from the first column's. */
  readonly flips: readonly boolean[]
  /** By question; undefined if the right answer is unknown. */
  readonly right: readonly (boolean | undefined)[]
}

export interface Row {
  readonly of: Case
  /** By column; undefined: not asked yet. */
  readonly cells: readonly (Cell | { readonly error: ApiError } | undefined)[]
  readonly flipped: boolean
}

export function rowsOf(
  cases: readonly Case[],
  columns: readonly CompareColumn[],
  questions: string | undefined,
  outcomes: Outcomes,
): Row[] {
  return cases.map((of) => {
    const found = columns.map((column) => {
      const ask = askOf(of, column, questions)
      const outcome = ask && outcomes.get(ask.key)
      if (outcome === undefined || 'error' in outcome) return outcome
      return outcome.reply.answers.map((answer) => inColumn(answer, column))
    })
    const [first] = found
    const cells = found.map((answers) => {
      if (answers === undefined || 'error' in answers) return answers
      return {
        answers,
        flips: answers.map(
          ({ decision }, i) => Array.isArray(first) && first[i]?.decision !== decision,
        ),
        right: answers.map(({ name, decision, type }) =>
          isRight(decision, expectedOf(of, name), type),
        ),
      }
    })
    const flipped = cells.some((cell) => cell && 'flips' in cell && cell.flips.includes(true))
    return { of, cells, flipped }
  })
}

export interface Summary {
  readonly answers: number
  readonly flips: number
  readonly right: number
  readonly known: number
  readonly failed: number
}

/** One for each column. */
export function summariesOf(rows: readonly Row[], columns: number): Summary[] {
  return Array.from({ length: columns }, (_, i) => {
    const sum = { answers: 0, flips: 0, right: 0, known: 0, failed: 0 }
    for (const { cells } of rows) {
      const cell = cells[i]
      if (cell === undefined) continue
      if ('error' in cell) {
        sum.failed++
        continue
      }
      sum.answers += cell.answers.length
      sum.flips += cell.flips.filter(Boolean).length
      sum.known += cell.right.filter((right) => right !== undefined).length
      sum.right += cell.right.filter((right) => right === true).length
    }
    return sum
  })
}
