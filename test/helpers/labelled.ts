/** Labelled rows, and invented answers to them that are always the same. */
import { keysOf, objectFromEntries } from '../../src/api/json.js'
import type { Answer, Decider, Decision, DecideRequest, Question } from '../../src/decide/types.js'
import { type Ask, measureRow } from '../../src/evaluate/measure.js'
import { rowsOf } from '../../src/evaluate/rows/rows.js'
import type { LabelledRow } from '../../src/evaluate/rows/types.js'
import { answerOf } from '../../src/scoring/answers.js'
import { createRandom, type Random } from './random.js'
import { stubDecider } from './stub.js'

export const limits = { maxQuestions: 400, maxOptions: 255, maxLevels: 255 }

/** The bytes of lines, in pieces that may end anywhere. */
export const piecesOf = (lines: Iterable<string>, pieceBytes = 7) =>
  inPieces([...lines].map((line) => `${line}\n`).join(''), pieceBytes)

/** The bytes of a text, in pieces of this length. */
export async function* inPieces(text: string | Uint8Array, length: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length)
}

/** Everything that an iterable yields. */
export async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(value)
  return list
}

const options = ['red', 'green', 'blue', '7', '3'] as const

/** The line of a row: a noul, a choice of two to five and a score of three. */
export function rowText(i: number, random: Random = createRandom(i)): string {
  const names = options.slice(0, 2 + random.integer(4))
  // Text, not an object: JavaScript would put the names 7 and 3 first.
  const criteria = names.map((name) => `"${name}":null`).join()
  return (
    `{"state":"state ${i}","questions":{` +
    `"sure":{"type":"noul","instructions":"Is it?"},` +
    `"colour":{"type":"choice","criteria":{${criteria}}},` +
    `"size":{"type":"score","criteria":["small","middling","large"]}},` +
    `"expected":{"sure":${random.integer(2) === 1},` +
    `"colour":"${random.pick(names)}","size":${random.integer(3)}}}`
  )
}

/** Equal requests have equal answers, with evidence. */
export function decisionOn(request: DecideRequest): Decision {
  const answers = keysOf(request.questions).map((name): [string, Answer] => {
    const question = request.questions[name]!
    const random = createRandom(seedOf(`${JSON.stringify(request.state)} ${name}`))
    const logits = Array.from({ length: countOf(question) }, () => 6 * random.next() - 3)
    const read = { logits, labelMass: random.next() }
    return [name, answerOf(question, read, { temperature: 1, evidence: true })]
  })
  return {
    model: 'made-up',
    answers: objectFromEntries(answers),
    usage: { input_tokens: 10, output_tokens: 3 },
    latency_ms: 1.5,
    cached_tokens: 4,
    evidence: { cached_tokens: 4, evaluated_tokens: 9 },
    timings: { queue: 0, tokenize: 0, vision: 0, model: 1.5 },
  }
}

/** Sixty rows. */
export const rowTexts = Array.from({ length: 60 }, (_, i) => rowText(i))
export const sixtyRows = () => rowsOf(piecesOf(rowTexts, 500), limits)

/** How a run measures its rows: four at a time, reversed ones too. */
export const measured = (ask: Ask = async (request) => decisionOn(request)) => ({
  concurrency: 4,
  measure: (row: LabelledRow, signal: AbortSignal) =>
    measureRow(row, { ask, flips: true, maxQuestions: 256 }, signal),
})

function countOf(question: Question): number {
  return question.type === 'noul' ? 2 : keysOf(question.criteria).length
}

function seedOf(text: string): number {
  let seed = 0
  for (let i = 0; i < text.length; i++) seed = (Math.imul(seed, 31) + text.charCodeAt(i)) | 0
  return seed
}

/** A server's decider that answers so, but from a certain request on only when told to. */
export class Gated {
  /** The states of all requests, as JSON. */
  readonly asked: string[] = []
  readonly decider: Decider
  #open!: () => void
  readonly #opened = new Promise<void>((resolve) => (this.#open = resolve))

  constructor(free = Infinity) {
    this.decider = stubDecider(async (request: DecideRequest) => {
      this.asked.push(JSON.stringify(request.state))
      if (this.asked.length > free) await this.#opened
      return decisionOn(request)
    })
  }

  open(): void {
    this.#open()
  }
}
