/**
 * Usage over time, as JSON and as CSV.
 *
 * @module
 */

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Accounts } from '../accounts/accounts.js'
import { dayMs } from '../accounts/ledger/booking.js'
import { unitMsOf, type UsageQuery } from '../accounts/ledger/usage-query.js'
import { requireTime } from '../api/admin/check.js'
import { OiError } from '../errors.js'
import { type AdminHandlers, type AdminServices, TextReply } from './call.js'
import { patiently } from '../accounts/patiently.js'
import { timeText } from './present.js'
import { csvText, jsonText, type UsageText } from './usage-text.js'

/** The default range without `from`, the current day or hour included. */
const [standardDays, standardHours] = [31, 48]
const turnMostMs = 5
/** The limit of rows: 20 MB for a thousand keys on 92 days. */
const mostRows = 100_000
const longestMs = { hour: 92 * dayMs, day: 3660 * dayMs }

export function usageHandlers({ accounts }: AdminServices): AdminHandlers<'getUsage'> {
  return {
    getUsage: async ({ query, gone }) => {
      const { by = 'workspace', per = 'day', model, format = 'json' } = query
      const { workspace_id: workspaceId, key_id: keyId } = query
      if (keyId !== undefined && by === 'workspace') {
        throw unacceptable('by', 'expected key or model with key_id')
      }
      const { fromMs, toMs } = timesOf(query, per)
      const asked = { by, per, fromMs, toMs, workspaceId, keyId, model }
      const text =
        format === 'csv'
          ? csvText(by, accounts)
          : jsonText(by, accounts, { by, per, from: timeText(fromMs), to: timeText(toMs) })
      const bytes = await inTurns(accounts, asked, text, gone)
      if (format !== 'csv') return new TextReply('application/json', bytes)
      return new TextReply('text/csv; charset=utf-8', bytes, `oi-usage-by-${by}-per-${per}.csv`)
    },
  }
}

/**
 * Reads usage over several turns of the event loop, newest first. Each turn sees the current
 * accounts; a booking is counted in exactly one of them, as its time never changes.
 */
async function inTurns(
  accounts: Accounts,
  query: UsageQuery,
  text: UsageText,
  gone: () => boolean,
): Promise<Uint8Array> {
  const { per, fromMs } = query
  // A thousand keys with four models each have 4,000 sums per hour or day.
  const stepMs = unitMsOf[per]
  const pieces = [Buffer.from(text.start)]
  let count = 0
  let turnMs = performance.now()
  for (let toMs = query.toMs; toMs > fromMs && !gone(); toMs -= stepMs) {
    const part = { ...query, fromMs: toMs - stepMs, toMs }
    const rows = await patiently(() => accounts.usageOver(part))
    if (rows.length > 0) {
      pieces.push(Buffer.from((count === 0 ? '' : text.between) + text.write(rows)))
    }
    count += rows.length
    if (count > mostRows) {
      const rule = `more than ${mostRows} rows: ask for a shorter time, or for one workspace`
      throw unacceptable('from', rule)
    }
    if (performance.now() - turnMs < turnMostMs) continue
    await nextTurn()
    turnMs = performance.now()
  }
  return Buffer.concat([...pieces, Buffer.from(text.end)])
}

function timesOf({ from, to }: { from?: string; to?: string }, per: 'hour' | 'day') {
  const unitMs = unitMsOf[per]
  const read = (place: string, text: string) => requireTime('ERR_REQUEST_UNACCEPTABLE', place, text)
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

function unacceptable(place: string, rule: string): OiError {
  return new OiError('ERR_REQUEST_UNACCEPTABLE', `${place}: ${rule}`, { param: place })
}
