/**
 * Cases of a comparison, and their file: JSON lines as for `oi eval`, each a request with the right
 * answers.
 *
 * @module
 */

import {
  entriesOf,
  isJsonObject,
  type Json,
  objectFromEntries,
  stringifyJson,
} from '../../api/json-value.js'
import { checkJson } from '../playground/json-text.js'

export interface Case {
  readonly id: number
  /** A text, or JSON. */
  readonly form: 'text' | 'json'
  readonly state: string
  /** JSON, if a file's line had some before its state. */
  readonly images?: string
  /** JSON of its own questions, if those of a file's lines differ. */
  readonly questions?: string
  /** The right answer by question, as typed: `yes`, an option, a level. */
  readonly expected: Readonly<Record<string, string>>
}

/** Larger than the ids of an earlier visit, which are kept. */
let lastId = Date.now()

export function newCase(parts: Partial<Omit<Case, 'id'>> = {}): Case {
  return { id: ++lastId, form: 'text', state: '', expected: {}, ...parts }
}

/** JSON of the state; undefined while it is invalid. */
export function stateOf({ form, state }: Case): string | undefined {
  if (form === 'text') return state.trim() === '' ? undefined : JSON.stringify(state)
  const { value } = checkJson(state)
  return value === undefined ? undefined : stringifyJson(value)
}

/** The right answer to a question as typed; '' if there is none. */
export function expectedOf({ expected }: Case, question: string): string {
  return Object.hasOwn(expected, question) ? expected[question]! : ''
}

/** A decision as a file has it: true, an option's name, a level. */
function labelOf(text: string, type: unknown): Json | undefined {
  const wanted = text.trim()
  if (wanted === '') return undefined
  if (type === 'noul') return readYes(wanted)
  return type === 'score' ? levelIn(wanted) : wanted
}

function readYes(text: string): boolean | undefined {
  if (/^(?:yes|true|1)$/i.test(text)) return true
  return /^(?:no|false|0)$/i.test(text) ? false : undefined
}

function levelIn(text: string): number | undefined {
  const level = text === '' ? NaN : Number(text)
  return Number.isInteger(level) && level >= 0 ? level : undefined
}

/** Whether an answer is right; undefined if the right answer is unknown. */
export function isRight(decision: string, expected: string, type: string): boolean | undefined {
  if (expected.trim() === '') return undefined
  if (type === 'score') return decision === String(levelIn(expected.trim()))
  if (type !== 'noul') return decision === expected.trim()
  const yes = readYes(expected.trim())
  return yes === undefined ? undefined : (decision === 'Yes') === yes
}

/** @param common - JSON; cases with questions of their own are asked those. */
export function linesOf(cases: readonly Case[], common: string | undefined): string {
  const lines = cases.flatMap((one) => {
    const state = stateOf(one)
    const { questions = common, images } = one
    if (state === undefined || questions === undefined) return []
    const checked = checkJson(questions).value
    const types = isJsonObject(checked) ? entriesOf(checked) : []
    const expected = types.flatMap(([name, question]) => {
      const type = isJsonObject(question) ? question['type'] : undefined
      const label = labelOf(expectedOf(one, name), type)
      return label === undefined ? [] : [[name, label] as const]
    })
    const right =
      expected.length === 0 ? '' : `,"expected":${stringifyJson(objectFromEntries(expected))}`
    const before = images === undefined ? '' : `"images":${images},`
    return [`{${before}"state":${state},"questions":${questions}${right}}\n`]
  })
  return lines.join('')
}

type ReadCases =
  | {
      readonly cases: readonly Case[]
      /** JSON of the questions of all cases; undefined: each has its own. */
      readonly questions: string | undefined
      readonly reason?: undefined
    }
  | { readonly reason: string; readonly cases?: undefined }

/**
 * Reads the lines of a file: all JSON lines that `oi eval` takes (evaluate/rows/rows.ts). Questions and right answers
 * are checked by the server.
 */
export function readLines(text: string): ReadCases {
  const cases: Case[] = []
  const questions = new Set<string>()
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const at = `Line ${i + 1}: `
    const { value, mistake } = checkJson(line)
    if (mistake) return { reason: `${at}${mistake.message.replace(/^Line 1, /, '')}` }
    if (!isJsonObject(value) || value['state'] === undefined) {
      return { reason: `${at}expected an object with “state” and “questions”.` }
    }
    const asked = value['questions']
    if (!isJsonObject(asked)) return { reason: `${at}expected an object “questions”.` }
    const text = stringifyJson(asked)
    questions.add(text)
    const images = value['images']
    cases.push(
      newCase({
        ...caseState(value['state']),
        ...(images !== undefined && { images: stringifyJson(images) }),
        questions: text,
        expected: expectedIn(value['expected']),
      }),
    )
  }
  if (questions.size === 0) return { reason: 'The file has no lines.' }
  if (questions.size > 1) return { cases, questions: undefined }
  const [common] = questions
  return { cases: cases.map(({ questions: _, ...one }) => one), questions: common }
}

function caseState(state: Json): Pick<Case, 'form' | 'state'> {
  if (typeof state === 'string') return { form: 'text', state }
  return { form: 'json', state: stringifyJson(state) }
}

function expectedIn(value: Json | undefined): Record<string, string> {
  if (!isJsonObject(value)) return {}
  const shown = (label: Json) =>
    typeof label === 'boolean'
      ? label
        ? 'yes'
        : 'no'
      : typeof label === 'string'
        ? label
        : stringifyJson(label)
  return Object.fromEntries(entriesOf(value).map(([name, label]) => [name, shown(label)]))
}
