/**
 * Usage over time, as JSON and as CSV.
 *
 * @module
 */

import type { Accounts } from '../../accounts/accounts.js'
import { dayMs, hourMs } from '../../accounts/booking.js'
import type { UsageRow } from '../../accounts/usage-query.js'
import { readTime } from '../../api/admin/check.js'
import type { ReplyOf } from '../../api/admin/operations.js'
import { OiError } from '../../errors.js'
import { type AdminHandlers, type AdminServices, TextReply } from './call.js'
import { timeText } from './present.js'

type Row = ReplyOf<'getUsage'>['rows'][number]

/** What is shown without `from`, the current one included. */
const [standardDays, standardHours] = [31, 48]
const longestMs = { hour: 92 * dayMs, day: 3660 * dayMs }

export function usageHandlers({ accounts }: AdminServices): AdminHandlers<'getUsage'> {
  return {
    getUsage: ({ query }) => {
      const { by = 'workspace', per = 'day', model, format = 'json' } = query
      const { workspace_id: workspaceId, key_id: keyId } = query
      if (keyId !== undefined && by === 'workspace') {
        throw unacceptable('by', 'expected key or model with key_id')
      }
      const { fromMs, toMs } = timesOf(query, per)
      const rows = accounts.usageOver({ by, per, fromMs, toMs, workspaceId, keyId, model })
      const named = withNames(rows, by, accounts)
      if (format === 'csv') {
        const name = `oi-usage-by-${by}-per-${per}.csv`
        return new TextReply('text/csv; charset=utf-8', csvOf(named, by), name)
      }
      return { by, per, from: timeText(fromMs), to: timeText(toMs), rows: named }
    },
  }
}

function timesOf({ from, to }: { from?: string; to?: string }, per: 'hour' | 'day') {
  const unitMs = per === 'hour' ? hourMs : dayMs
  const read = (place: string, text: string) => readTime('ERR_REQUEST_UNACCEPTABLE', place, text)
  const endMs = to === undefined ? Date.now() + 1 : read('to', to)
  const toMs = Math.ceil(endMs / unitMs) * unitMs
  const standardMs = toMs - (per === 'hour' ? standardHours : standardDays) * unitMs
  const startMs = from === undefined ? standardMs : read('from', from)
  const fromMs = Math.floor(startMs / unitMs) * unitMs
  if (fromMs >= toMs) throw unacceptable('from', 'expected a time before to')
  if (toMs - fromMs > longestMs[per]) {
    throw unacceptable('from', `expected at most ${longestMs[per] / dayMs} days before to`)
  }
  return { fromMs, toMs }
}

function withNames(
  rows: readonly UsageRow[],
  by: 'workspace' | 'key' | 'model',
  accounts: Accounts,
): Row[] {
  const keys = by === 'key' ? new Map(accounts.keys.list().map((key) => [key.id, key])) : undefined
  const workspaces =
    by === 'workspace'
      ? new Map(accounts.listWorkspaces().map(({ id, name }) => [id, name]))
      : undefined
  return rows.map(({ id, model, ...row }) => {
    const key = keys?.get(id!)
    return {
      start: timeText(row.startMs),
      ...(by === 'workspace' && { workspace_id: id!, workspace: workspaces!.get(id!) ?? '' }),
      ...(by === 'key' && {
        ...(key && { workspace_id: key.workspaceId, workspace: key.workspace }),
        ...{ key_id: id!, key: key?.name ?? '' },
      }),
      ...(by === 'model' && { model: model! }),
      ...{ requests: row.requests, input_tokens: row.inputTokens },
      ...{ output_tokens: row.outputTokens, image_tokens: row.imageTokens },
      ...{ cached_tokens: row.cachedTokens, cost: row.cost },
    }
  })
}

const identity = {
  workspace: ['workspace_id', 'workspace'],
  key: ['workspace_id', 'workspace', 'key_id', 'key'],
  model: ['model'],
} as const
const sums = [
  ...(['requests', 'input_tokens', 'output_tokens', 'image_tokens', 'cached_tokens'] as const),
  'cost' as const,
]

function csvOf(rows: readonly Row[], by: keyof typeof identity): string {
  const names = ['start', ...identity[by], ...sums] as const
  const lines = rows.map((row) => names.map((name) => cell(row[name])).join(','))
  return [names.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

/**
 * As RFC 4180 has it. A name that a spreadsheet would take for a formula is told that it is text:
 * names are whatever somebody gave.
 */
function cell(value: string | number | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function unacceptable(place: string, rule: string): OiError {
  return new OiError('ERR_REQUEST_UNACCEPTABLE', `${place}: ${rule}`, { param: place })
}
