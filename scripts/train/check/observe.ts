/**
 * Labelled rows, asked, and asked again with their options in reverse.
 *
 * @module
 */

import { keysOf } from '../../../src/api/json.js'
import { reverse } from '../../../src/evaluate/flips.js'
import { observationsOf } from '../../../src/evaluate/observe.js'
import { gradeOf } from '../../../src/evaluate/outcome.js'
import { readRows } from '../../../src/evaluate/rows.js'
import { firstRows } from '../../../src/evaluate/run.js'
import type { LabelledRow, Observation } from '../../../src/evaluate/types.js'
import type { Oi } from '../../../src/open.js'
import { argMax } from '../../../src/scoring/confidence.js'
import type { Certainty } from './figures.js'

/** One answer. */
export interface Observed {
  readonly certainty: Certainty
  readonly probabilities: readonly number[]
  readonly right: number
  /** Of a choice; else none. */
  readonly options: readonly string[]
  /** Of a score: how far the expected level is off. */
  readonly error?: number
  /** Of a choice: whether another option is the likeliest one in reverse. */
  readonly flipped?: boolean
  /** Of the row's request. */
  readonly latencyMs: number
}

export interface ObserveOptions {
  readonly limit: number
  readonly concurrency: number
}

const limits = { maxQuestions: 256, maxOptions: 255, maxLevels: 255 }

/** Every answer of every row, in the rows' order. */
export async function observeRows(
  oi: Oi,
  path: string,
  { limit, concurrency }: ObserveOptions,
): Promise<Observed[]> {
  const rows: LabelledRow[] = []
  for await (const row of firstRows(readRows(path, limits), limit)) rows.push(row)
  const found: Observed[][] = []
  let next = 0
  const work = async () => {
    while (next < rows.length) {
      const at = next++
      found[at] = await observeRow(oi, rows[at]!)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return found.flat()
}

async function observeRow(oi: Oi, row: LabelledRow): Promise<Observed[]> {
  const startMs = performance.now()
  const decision = await oi.decide(row.request, { evidence: true })
  const latencyMs = performance.now() - startMs
  const backwards = await askInReverse(oi, row)
  return observationsOf(row, decision).map((observation) => {
    const { probabilities, right } = observation
    const { correct, confidence } = gradeOf(observation)
    const question = row.request.questions[observation.question]!
    const reversed = backwards.get(observation.question)
    return {
      certainty: { correct, confidence },
      ...{ probabilities, right, latencyMs },
      options: question.type === 'choice' ? keysOf(question.criteria) : [],
      ...(question.type === 'score' && { error: levelError(observation) }),
      ...(reversed && { flipped: argMax(reversed) !== argMax(probabilities) }),
    }
  })
}

/** Only choices: levels in reverse, under a question that says lowest first, are another question. */
async function askInReverse(
  oi: Oi,
  row: LabelledRow,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const reversed = reverse(row)
  if (reversed === undefined) return new Map()
  const observations = observationsOf(
    reversed.row,
    await oi.decide(reversed.row.request, { evidence: true }),
  )
  const names = new Map([...reversed.names].map(([name, other]) => [other, name]))
  return new Map(
    observations
      .filter(({ type }) => type === 'choice')
      .map(({ question, probabilities }) => [names.get(question)!, probabilities.toReversed()]),
  )
}

function levelError({ probabilities, right }: Observation): number {
  return Math.abs(probabilities.reduce((sum, p, level) => sum + p * level, 0) - right)
}
