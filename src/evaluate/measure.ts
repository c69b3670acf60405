/**
 * Asks and measures one row.
 *
 * @module
 */

import {
  entriesOf,
  type JsonObject,
  keysOf,
  objectFromEntries,
  stringifyJson,
} from '../api/json.js'
import type { DecideRequest, Usage } from '../decide/types.js'
import { OiError } from '../errors.js'
import { requestsOf, reverse } from './flips.js'
import { observationsOf } from './observe.js'
import { type Outcome, outcomeOf } from './figures/outcome.js'
import type { LabelledRow, Reply } from './rows/types.js'

/** Answers one request, with evidence. @throws {@link OiError} */
export type Ask = (request: DecideRequest, signal: AbortSignal) => Promise<Reply>

export interface MeasureOptions {
  readonly ask: Ask
  /** Whether choices and scores are asked in reverse as well. */
  readonly flips: boolean
  /** The most questions of one request. */
  readonly maxQuestions: number
  /** As for {@link outcomeOf}. */
  readonly others?: ReadonlySet<string> | undefined
}

/** The record of a row. */
export type RowRecord = MeasuredRow | RefusedRow

export interface MeasuredRow {
  /** Its line in the file, from 1. */
  readonly line: number
  readonly outcomes: readonly Outcome[]
  /** The JSON of all its answers, without evidence; a text keeps the order of names. */
  readonly answers: string
  /** The tokens of all its requests, also of those in reverse. */
  readonly tokens: Tokens
  /** From request to answer, milliseconds. */
  readonly latencyMs: number
  /** The model's part of it, milliseconds. */
  readonly modelMs: number
}

export interface Tokens {
  readonly input: number
  /** Input tokens that came from a cache. */
  readonly cached: number
  readonly image: number
  readonly output: number
}

/** A row that the model does not accept, for example because its state is too long. */
export interface RefusedRow {
  readonly line: number
  /** The place and the rule. */
  readonly refused: string
}

/** Codes of faults of the request itself: a retry would not help. */
const refusals: readonly string[] = [
  'ERR_BODY_INVALID',
  'ERR_REQUEST_UNACCEPTABLE',
  'ERR_STATE_TOO_LONG',
  'ERR_BODY_TOO_LARGE',
]

/** @throws What `ask` throws, unless it refuses the row; what {@link observationsOf} throws. */
export async function measureRow(
  row: LabelledRow,
  { ask, flips, maxQuestions, others }: MeasureOptions,
  signal: AbortSignal,
): Promise<RowRecord> {
  const reversed = flips ? reverse(row) : undefined
  const startMs = performance.now()
  let latencyMs = 0
  const decisions: Reply[] = []
  try {
    for (const request of requestsOf(row, reversed, maxQuestions)) {
      decisions.push(await ask(request, signal))
      // A second request serves the flips only.
      if (decisions.length === 1) latencyMs = performance.now() - startMs
    }
  } catch (error) {
    return refusalOf(row.line, error)
  }

  const answers = objectFromEntries(decisions.flatMap((one) => entriesOf(one.answers)))
  const decision = { ...decisions[0]!, answers }
  const backwards = new Map(
    (reversed ? observationsOf(reversed.row, decision) : []).map((observation) => [
      observation.question,
      observation.probabilities.toReversed(),
    ]),
  )
  const outcomes = observationsOf(row, decision).map((observation) => {
    const question = row.request.questions[observation.question]!
    const other = reversed?.names.get(observation.question)
    const backward = other === undefined ? undefined : backwards.get(other)
    return outcomeOf(observation, question, backward, others)
  })
  const tokens = decisions.map(tokensOf).reduce(sumOfTokens)
  const modelMs = Number(decision.latency_ms) || 0
  return {
    line: row.line,
    outcomes,
    answers: answersText(row, decision),
    tokens,
    latencyMs,
    modelMs,
  }
}

function answersText({ request }: LabelledRow, { answers }: Reply): string {
  const own = keysOf(request.questions).filter((name) => Object.hasOwn(answers, name))
  return stringifyJson(
    objectFromEntries(
      own.map((name) => {
        const shown = entriesOf(answers[name] as unknown as JsonObject)
        return [name, objectFromEntries(shown.filter(([member]) => member !== 'evidence'))]
      }),
    ),
  )
}

/** @throws The error, unless it is a fault of the request. */
export function refusalOf(line: number, error: unknown): RefusedRow {
  if (!(error instanceof OiError) || !refusals.includes(error.code)) throw error
  return { line, refused: error.message }
}

/** A server may leave fields out, and its numbers may be RawNumbers. */
function tokensOf(decision: Reply): Tokens {
  const usage = decision.usage as Partial<Usage> | undefined
  return {
    input: Number(usage?.input_tokens ?? 0),
    cached: Number(decision.evidence?.cached_tokens ?? 0),
    image: Number(usage?.image_tokens ?? 0),
    output: Number(usage?.output_tokens ?? 0),
  }
}

export function sumOfTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    cached: a.cached + b.cached,
    image: a.image + b.image,
    output: a.output + b.output,
  }
}
