/**
 * A reply for people: each answer with a bar per option, then usage and time.
 *
 * Reads the reply as parsed JSON and no inner types, so that the replies of servers and of local
 * models are shown by the same code.
 *
 * @module
 */

import {
  entriesOf,
  isJsonObject,
  type Json,
  type JsonObject,
  member,
  stringifyJson,
} from '../../api/json.js'
import { OiError } from '../../errors.js'
import { layOut, oneLine } from '../../terminal/text-table.js'

interface TableOptions {
  readonly colours: boolean
}

interface Row {
  readonly label: string
  readonly probability: number
  /** Whether this option is the answer. */
  readonly chosen: boolean
}

/** Columns of a terminal, divided between label, bar and percentage. */
const width = 80
const columns = [28, 41, 8]
const barWidth = 40
/** Of more options, only the likeliest are shown. */
const mostRows = 12

/**
 * @param response - The body of the reply.
 * @param request - The body of the request, for the text of the questions.
 * @returns Lines of at most 80 columns, the last one ended.
 * @throws {@link OiError} `ERR_REMOTE` if the reply is not one of this interface.
 */
export function answerTable(response: Json, request: Json, { colours }: TableOptions): string {
  if (!isJsonObject(response) || !isJsonObject(response['answers'])) {
    throw new OiError('ERR_REMOTE', 'The reply has no answers: is this an address of oi serve?')
  }
  const questions = member(request, 'questions')
  const blocks = entriesOf(response['answers']).map(([name, answer]) => {
    const { result, rows } = read(answer)
    const title = oneLine(name) + ': '
    return [
      line(title + paint(colours, '1', result)),
      ...instructionLines(member(member(questions, name), 'instructions')),
      ...rowLines(rows, colours),
      ...evidenceLines(member(answer, 'evidence')),
    ].join('\n')
  })
  return `${[...blocks, footer(response)].join('\n\n')}\n`
}

function read(answer: Json): { result: string; rows: readonly Row[] } {
  const confidence = `confidence ${Number(member(answer, 'confidence')).toFixed(2)}`
  const probabilities = entriesOf((member(answer, 'probabilities') ?? {}) as JsonObject)
  switch (textOf(member(answer, 'type'))) {
    case 'noul': {
      const yes = Number(member(answer, 'noul'))
      const rows = [
        { label: 'yes', probability: yes, chosen: yes >= 0.5 },
        { label: 'no', probability: 1 - yes, chosen: yes < 0.5 },
      ]
      return { result: yes >= 0.5 ? 'yes' : 'no', rows }
    }
    case 'choice': {
      const choice = textOf(member(answer, 'choice'))
      const rows = probabilities.map(([label, p]) => ({
        label,
        probability: Number(p),
        chosen: oneLine(label) === choice,
      }))
      return { result: `${oneLine(choice)} (${confidence})`, rows }
    }
    case 'score': {
      const legend = member(answer, 'legend')
      const likeliest = Math.max(...probabilities.map(([, p]) => Number(p)))
      const rows = probabilities.map(([level, p]) => ({
        label: `${level} ${textOf(member(legend, level))}`,
        probability: Number(p),
        chosen: Number(p) === likeliest,
      }))
      const score = Number(member(answer, 'score')).toFixed(2)
      return { result: `${score} of 0 to ${probabilities.length - 1} (${confidence})`, rows }
    }
    default:
      return { result: textOf(answer), rows: [] }
  }
}

function instructionLines(instructions: Json | undefined): string[] {
  const text = textOf(instructions)
  return text === '' ? [] : [line(`  ${text}`)]
}

function rowLines(rows: readonly Row[], colours: boolean): string[] {
  const least = rows.map((row) => row.probability).toSorted((a, b) => b - a)[mostRows - 1] ?? 0
  const shown = rows.filter((row) => row.chosen || row.probability >= least).slice(0, mostRows)
  const cells = shown.map(({ label, probability, chosen }) => {
    const mark = chosen ? '▸' : ' '
    const row = [`${mark} ${oneLine(label)}`, bar(probability), percentage(probability)]
    return chosen ? row.map((cell) => paint(colours, '32', cell)) : row
  })
  const hidden = rows.filter((row) => !shown.includes(row))
  const rest = hidden.reduce((sum, row) => sum + row.probability, 0)
  if (hidden.length > 0) cells.push([`  and ${hidden.length} more`, bar(rest), percentage(rest)])
  return layOut(cells, { widths: columns, aligns: ['left', 'left', 'right'], gap: 1 })
}

function evidenceLines(evidence: Json | undefined): string[] {
  const shown = { label_mass: 'label mass', order_spread: 'order spread' }
  return Object.entries(shown).flatMap(([name, words]) => {
    const value = member(evidence, name)
    return value === undefined ? [] : [`  ${words} ${percentage(Number(value)).trim()}`]
  })
}

function footer(response: JsonObject): string {
  const usage = response['usage']
  const count = (name: string) => Number(member(usage, name) ?? 0)
  return line(
    `${textOf(response['model'])}: ${count('input_tokens')} tokens in${cachedOf(response)}, ` +
      `${count('output_tokens')} out, ` +
      `${Number(response['latency_ms']).toFixed(1)} ms`,
  )
}

/** Known from the evidence only. */
function cachedOf(response: JsonObject): string {
  const cached = member(response['evidence'], 'cached_tokens')
  return cached === undefined ? '' : ` (${Number(cached)} cached)`
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** @param probability - 0 to 1; anything above 0 shows at least a sliver. */
function bar(probability: number): string {
  const units = Math.ceil(probability * barWidth * 8)
  return '█'.repeat(Math.floor(units / 8)) + eighths[units % 8]!
}

function percentage(probability: number): string {
  return `${(probability * 100).toFixed(1)} %`
}

function line(text: string): string {
  return layOut([[text]], { widths: [width - 1] })[0]!
}

function paint(colours: boolean, code: string, text: string): string {
  return colours ? `\x1b[${code}m${text}\x1b[0m` : text
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return ''
  return oneLine(typeof value === 'string' ? value : stringifyJson(value))
}
