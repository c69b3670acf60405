/**
 * Converts the accounts' values to those of the admin API.
 *
 * @module
 */

import type { Key, NewKey, Workspace } from '../accounts/accounts.js'
import { keyState } from '../accounts/api-keys.js'
import type { AuditEntry } from '../accounts/audit.js'
import type { LedgerPlace, LedgerRow } from '../accounts/ledger/ledger-page.js'
import type { ReplyOf } from '../api/admin/operations.js'

/** A time as on the wire. */
export const timeText = (ms: number) => new Date(ms).toISOString()
const timeOrNull = (ms: number | null) => (ms === null ? null : timeText(ms))

export function workspaceReply(
  workspace: Workspace,
  keys: readonly Key[],
): ReplyOf<'getWorkspace'> {
  const { id, name, createdMs, archivedMs, requestsPerMinute, concurrent, budget, balance } =
    workspace
  const isActive = (key: Key) => key.workspaceId === id && keyState(key) === 'active'
  return {
    ...{ id, name, balance, created_at: timeText(createdMs) },
    archived_at: timeOrNull(archivedMs),
    limits: { requests_per_minute: requestsPerMinute, concurrent },
    budget: budget && {
      ...{ tokens: budget.tokens, period: budget.period, used_tokens: budget.usedTokens },
      remaining_tokens: Math.max(0, budget.tokens - budget.usedTokens),
      started_at: timeText(budget.startMs),
      resets_at: timeText(budget.endMs),
    },
    active_keys: keys.filter(isActive).length,
  }
}

export function keyReply(key: Key): ReplyOf<'getKey'> {
  const { id, name, workspaceId, workspace, lastFour, models, replacedBy, blockedMs } = key
  return {
    ...{ id, name, workspace_id: workspaceId, workspace, hint: `oi-…${lastFour}` },
    state: keyState(key),
    created_at: timeText(key.createdMs),
    last_used_at: timeOrNull(key.usedMs),
    expires_at: timeOrNull(key.expiresMs),
    blocked: blockedMs !== null,
    revoked_at: timeOrNull(key.revokedMs),
    models: models && [...models],
    replaced_by: replacedBy,
  }
}

export function secretReply(key: NewKey): ReplyOf<'createKey'> {
  return { ...keyReply(key), secret: key.secret }
}

export function ledgerRowReply(row: LedgerRow): ReplyOf<'getLedger'>['rows'][number] {
  return {
    id: placeText(row),
    time: timeText(row.timeMs),
    ...{ kind: row.kind, key_id: row.keyId, key: row.key, model: row.model, answers: row.rows },
    ...{ input_tokens: row.inputTokens, output_tokens: row.outputTokens },
    ...{ image_tokens: row.imageTokens, cached_tokens: row.cachedTokens },
    ...{ cost: row.cost, amount: row.amount },
  }
}

export const placeText = ({ timeMs, writer, number }: LedgerPlace) =>
  `${timeMs}-${writer}-${number}`

/** @param text - A result of {@link placeText}. */
export function placeOfText(text: string): LedgerPlace {
  const [timeMs, writer, number] = text.split('-').map(Number) as [number, number, number]
  return { timeMs, writer, number }
}

export function auditReply(entry: AuditEntry): ReplyOf<'getAudit'>['entries'][number] {
  const { id, timeMs, actor, actorDetail, action, target, name, before, after } = entry
  return {
    ...{ id, time: timeText(timeMs), actor, actor_detail: actorDetail, action, target },
    ...{ target_name: name, before, after },
  }
}
