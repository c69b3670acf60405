/**
 * Rows of usage as JSON and as CSV. There may be a hundred thousand, so common parts are written
 * once.
 *
 * @module
 */

import type { Accounts } from '../accounts/accounts.js'
import type { UsageQuery, UsageRow } from '../accounts/ledger/usage-query.js'
import { timeText } from './present.js'

type By = UsageQuery['by']
type Value = string | number | undefined

/** The columns that identify a row's workspace, key or model. */
const identity = {
  workspace: ['workspace_id', 'workspace'],
  key: ['workspace_id', 'workspace', 'key_id', 'key'],
  model: ['model'],
} as const
const sums: Readonly<Record<string, Exclude<keyof UsageRow, 'id' | 'model'>>> = {
  ...{ requests: 'requests', input_tokens: 'inputTokens', output_tokens: 'outputTokens' },
  ...{ image_tokens: 'imageTokens', cached_tokens: 'cachedTokens', cost: 'cost' },
}

/** A text made of rows, written some at a time. */
export interface UsageText {
  readonly start: string
  /** Between the texts of two `write` calls. */
  readonly between: string
  readonly end: string
  write(rows: readonly UsageRow[]): string
}

/** @param head - The members before the rows. */
export function jsonText(by: By, accounts: Accounts, head: object): UsageText {
  const nameOf = namer(by, accounts, (values) =>
    identity[by]
      .map((field, i) =>
        values[i] === undefined ? '' : `"${field}":${JSON.stringify(values[i])},`,
      )
      .join(''),
  )
  const fields = Object.entries(sums)
  const rowOf = (row: UsageRow) => {
    const counted = fields.map(([field, name]) => `"${field}":${row[name]}`).join(',')
    return `{"start":"${timeText(row.startMs)}",${nameOf(row)}${counted}}`
  }
  return {
    start: `${JSON.stringify(head).slice(0, -1)},"rows":[`,
    between: ',',
    end: ']}',
    write: (rows) => rows.map(rowOf).join(','),
  }
}

export function csvText(by: By, accounts: Accounts): UsageText {
  const nameOf = namer(by, accounts, (values) => values.map(cell).join(','))
  const names = Object.values(sums)
  const lineOf = (row: UsageRow) =>
    `${timeText(row.startMs)},${nameOf(row)},${names.map((name) => row[name]).join(',')}\r\n`
  return {
    start: `${['start', ...identity[by], ...Object.keys(sums)].join(',')}\r\n`,
    between: '',
    end: '',
    write: (rows) => rows.map(lineOf).join(''),
  }
}

/** @param write - Writes the values of {@link identity}, once for each workspace, key or model. */
function namer(
  by: By,
  accounts: Accounts,
  write: (values: readonly Value[]) => string,
): (row: UsageRow) => string {
  const texts = new Map<Value, string>()
  if (by === 'workspace') {
    for (const { id, name } of accounts.workspaces.list()) texts.set(id, write([id, name]))
  }
  if (by === 'key') {
    for (const { id, name, workspaceId, workspace } of accounts.keys.list()) {
      texts.set(id, write([workspaceId, workspace, id, name]))
    }
  }
  return ({ id, model }) => {
    const of = id ?? model
    let text = texts.get(of)
    if (text === undefined) {
      // Created after the names were read.
      text = write(by === 'key' ? [undefined, undefined, of, ''] : by === 'model' ? [of] : [of, ''])
      texts.set(of, text)
    }
    return text
  }
}

/** The start of a formula, also after characters that separate cells in some locales. */
const formula = /(?:^|[;\t])\s*(?=[=+\-@＝＋－＠])/g

/**
 * A cell by RFC 4180. Names are free text: a name that a spreadsheet would take for a formula is
 * marked as text.
 */
function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = value.replaceAll(formula, "$&'")
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
