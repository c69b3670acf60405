/**
 * Rows as they were in their file, with their answers behind: of `oi ask --rows` and `oi eval --rows-out`.
 *
 * Rules
 *   1. The output is of the input's kind: a table, JSON lines, or a JSON array.
 *   2. A table keeps its divider, its line ends and its byte order mark. Where semicolons divide it,
 *      numbers have a decimal comma, as in the Excel that wrote it.
 *   3. Nothing of a row is written over: a name that is taken is refused before the first request.
 *
 * @module
 */

import {
  entriesOf,
  isJsonObject,
  type Json,
  member,
  objectFromEntries,
  parseJson,
  stringifyJson,
} from '../../api/json.js'
import { OiError } from '../../errors.js'
import type { RefusedRow } from '../../evaluate/measure.js'
import type { FileRecord } from '../../evaluate/rows/records.js'
import type { Table } from '../../evaluate/rows/table-records.js'

/** What became of a row. */
export type AskedRecord = AnsweredRow | RefusedRow

/** Whether each answer is right, by question; none where that is not known. */
type Grades = ReadonlyMap<string, boolean>

interface AnsweredRow {
  readonly line: number
  /** The JSON of its answers, whose names keep their order in a text. */
  readonly answers: string
}

const errorName = 'oi_error'
const gradesName = 'oi_right'
const answersName = 'answers'
/** Of a probability in a table. */
const digits = 6

export class RowsOut {
  readonly #questions: readonly string[]
  readonly #json: boolean
  readonly #graded: boolean
  #rows = 0
  #isArray = false

  /**
   * @param questions - The names of the questions of a table.
   * @param json - Whether a table is written as JSON lines.
   * @param graded - Whether rows say if their answers are right.
   */
  constructor(questions: readonly string[], json: boolean, graded = false) {
    this.#questions = questions
    this.#json = json
    this.#graded = graded
  }

  /** @throws {@link OiError} `ERR_BODY_INVALID` for a row that has one of the new names. */
  requireFree(record: FileRecord): void {
    const taken = this.#newNames(record).find((name) => hasName(record, name))
    if (taken === undefined) return
    const rule = 'this name is for the answers: does the file have answers already?'
    throw new OiError('ERR_BODY_INVALID', `${taken}: ${rule}`)
  }

  /** The text of the next row. */
  row(record: FileRecord, result: AskedRecord, grades: Grades = new Map()): string {
    const isFirst = this.#rows++ === 0
    if (record.table && !this.#json) {
      const { table, cells } = record
      const head = isFirst
        ? (table.marked ? '\ufeff' : '') +
          line(table, [...table.columns, ...this.#newNames(record)])
        : ''
      return head + line(table, [...cells, ...this.#newCells(table, result, grades)])
    }
    this.#isArray = record.unit !== undefined
    const members = [...membersOf(record), ...this.#newMembers(result, grades)]
    const text = stringifyJson(objectFromEntries(members))
    if (!this.#isArray) return `${text}\n`
    return `${isFirst ? '[\n' : ',\n'}${text}`
  }

  /** What stands behind the last row. */
  end(): string {
    return this.#isArray ? '\n]\n' : ''
  }

  #newNames({ table }: FileRecord): readonly string[] {
    const ofGrades = this.#graded ? [gradesName] : []
    if (!table || this.#json) return [answersName, ...ofGrades, errorName]
    const names = this.#questions.flatMap((name) => [
      ...[`${name}_answer`, `${name}_probability`],
      ...(this.#graded ? [`${name}_right`] : []),
    ])
    return [...names, errorName]
  }

  #newCells({ divider }: Table, result: AskedRecord, grades: Grades): readonly string[] {
    const answers = 'refused' in result ? undefined : parseJson(result.answers)
    const cells = this.#questions.flatMap((name) => {
      const answer = member(answers, name)
      const [text, probability] = answer === undefined ? ['', NaN] : cellsOf(answer)
      return [
        typeof text === 'string' ? text : numberCell(text, divider),
        numberCell(probability, divider),
        ...(this.#graded ? [gradeCell(grades.get(name))] : []),
      ]
    })
    return [...cells, 'refused' in result ? result.refused : '']
  }

  #newMembers(result: AskedRecord, grades: Grades): [string, Json][] {
    if ('refused' in result) {
      return [
        [answersName, null],
        [errorName, result.refused],
      ]
    }
    return [
      [answersName, parseJson(result.answers)],
      ...(this.#graded ? [[gradesName, objectFromEntries(grades)] as [string, Json]] : []),
    ]
  }
}

function hasName(record: FileRecord, name: string): boolean {
  if (record.table) return record.table.columns.includes(name)
  return isJsonObject(record.json) && Object.hasOwn(record.json, name)
}

function membersOf(record: FileRecord): (readonly [string, Json])[] {
  if (!record.table) return entriesOf(record.json as Record<string, Json>)
  const { cells } = record
  return record.table.columns.map((name, i) => [name, cells[i]!])
}

/** An answer, and its probability: of a noul, that of yes; of a score, that of the likeliest level. */
function cellsOf(answer: Json): readonly [string | number, number] {
  const probabilities = member(answer, 'probabilities') ?? {}
  if (member(answer, 'type') === 'noul') {
    const yes = Number(member(answer, 'noul'))
    return [yes >= 0.5 ? 'yes' : 'no', yes]
  }
  const choice = member(answer, 'choice')
  if (typeof choice === 'string') return [choice, Number(member(probabilities, choice))]
  const levels = entriesOf(probabilities as Record<string, Json>).map(([, p]) => Number(p))
  return [Number(member(answer, 'score')), Math.max(...levels)]
}

function gradeCell(isRight: boolean | undefined): string {
  if (isRight === undefined) return ''
  return isRight ? 'yes' : 'no'
}

function numberCell(value: number, divider: string): string {
  if (!Number.isFinite(value)) return ''
  const text = String(Number(value.toFixed(digits)))
  return divider === ';' ? text.replace('.', ',') : text
}

/** A line of a table, with its end. */
function line({ divider, lineEnd }: Table, cells: readonly string[]): string {
  const quoted = cells.map((cell) => {
    const isPlain = !/["\r\n]|^\s|\s$/.test(cell) && !cell.includes(divider)
    return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`
  })
  return quoted.join(divider) + lineEnd
}
