/**
 * Workspaces, their ledger, and keys.
 *
 * @module
 */

import { requireTime } from '../api/admin/check.js'
import { OiError } from '../errors.js'
import type { AdminHandlers, AdminServices } from './call.js'
import {
  keyReply,
  ledgerRowReply,
  placeOfText,
  placeText,
  secretReply,
  workspaceReply,
} from './present.js'

type Ids =
  | 'listWorkspaces'
  | 'createWorkspace'
  | 'getWorkspace'
  | 'changeWorkspace'
  | 'creditWorkspace'
  | 'getLedger'
  | 'listKeys'
  | 'createKey'
  | 'getKey'
  | 'changeKey'
  | 'rotateKey'
  | 'revokeKey'

const standardRows = 100

export function accountsHandlers({ accounts }: AdminServices): AdminHandlers<Ids> {
  const workspace = (id: number) =>
    workspaceReply(accounts.workspaces.get(id), accounts.keys.list(id))
  return {
    listWorkspaces: () => {
      const keys = accounts.keys.list()
      return { workspaces: accounts.workspaces.list().map((one) => workspaceReply(one, keys)) }
    },
    createWorkspace: ({ body, administration }) => {
      const { name, limits, budget } = body
      const { id } = administration.createWorkspace({ name, limits: limitsOf(limits), budget })
      return workspace(id)
    },
    getWorkspace: ({ id }) => workspace(id),
    changeWorkspace: ({ id, body, administration }) => {
      const { name, limits, budget, archived } = body
      administration.changeWorkspace(id, { name, limits: limitsOf(limits), budget, archived })
      return workspace(id)
    },
    creditWorkspace: ({ id, body, administration }) => {
      if ('unlimited' in body) administration.makeUnlimited(id)
      else administration.credit(id, body.amount)
      return workspace(id)
    },
    getLedger: ({ id, query }) => {
      accounts.workspaces.get(id)
      const { before, limit = standardRows } = query
      const place = before === undefined ? undefined : placeOfText(before)
      const { rows, more } = accounts.ledgerPage({ workspaceId: id, before: place, limit })
      return { rows: rows.map(ledgerRowReply), next_before: more ? placeText(rows.at(-1)!) : null }
    },
    listKeys: ({ query }) => {
      const { workspace_id: workspaceId } = query
      if (workspaceId !== undefined) accounts.workspaces.get(workspaceId)
      return { keys: accounts.keys.list(workspaceId).map(keyReply) }
    },
    createKey: ({ body, administration }) => {
      const { workspace_id: workspaceId, name, models = null } = body
      const expiresMs = expiryOf(body.expires_at) ?? null
      return secretReply(administration.createKey(workspaceId, { name, models, expiresMs }))
    },
    getKey: ({ id }) => keyReply(accounts.keys.get(id)),
    changeKey: ({ id, body, administration }) => {
      const { name, models, blocked } = body
      const expiresMs = expiryOf(body.expires_at)
      const terms = {
        ...(name !== undefined && { name }),
        ...(models !== undefined && { models }),
        ...(expiresMs !== undefined && { expiresMs }),
      }
      return keyReply(administration.changeKey(id, terms, blocked))
    },
    rotateKey: ({ id, body, administration }) =>
      secretReply(administration.rotateKey(id, 1000 * body.overlap_seconds)),
    revokeKey: ({ id, administration }) => keyReply(administration.revokeKey(id)),
  }
}

function limitsOf(
  limits: { readonly requests_per_minute?: number; readonly concurrent?: number } | undefined,
) {
  if (limits === undefined) return undefined
  const { requests_per_minute: requestsPerMinute, concurrent } = limits
  return {
    ...(requestsPerMinute !== undefined && { requestsPerMinute }),
    ...(concurrent !== undefined && { concurrent }),
  }
}

/** Milliseconds since 1970; null: never. */
function expiryOf(text: string | null | undefined): number | null | undefined {
  if (text === undefined || text === null) return text
  const ms = requireTime('ERR_BODY_INVALID', 'expires_at', text)
  if (ms > Date.now()) return ms
  const rule = 'expires_at: expected a time in the future'
  throw new OiError('ERR_REQUEST_UNACCEPTABLE', rule, { param: 'expires_at' })
}
