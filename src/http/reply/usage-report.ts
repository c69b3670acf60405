/**
 * The body of GET /v1/usage, also shown by `oi workspaces usage --json`.
 *
 * @module
 */

import type { WorkspaceUsage } from '../../accounts/accounts.js'
import { resetText } from '../../accounts/budget.js'
import type { WorkspaceTerms } from '../../accounts/terms.js'
import type { DailyUsage } from '../../accounts/ledger/usage.js'

export function usageReport({ workspace, usage, key }: WorkspaceUsage) {
  return {
    workspace: workspace.name,
    balance: workspace.balance,
    budget: budgetReport(workspace.budget),
    limits: {
      requests_per_minute: workspace.requestsPerMinute,
      concurrent: workspace.concurrent,
    },
    usage: usage.map(rowOf),
    ...(key && { key: { name: key.name, usage: key.usage.map(rowOf) } }),
  }
}

function budgetReport(budget: WorkspaceTerms['budget']) {
  if (budget === null) return null
  const { tokens, period, usedTokens, endMs } = budget
  const left = Math.max(0, tokens - usedTokens)
  return { tokens, period, remaining_tokens: left, resets_at: resetText(endMs) }
}

function rowOf(row: DailyUsage) {
  return {
    day: row.day,
    model: row.model,
    requests: row.requests,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    image_tokens: row.imageTokens,
    cached_tokens: row.cachedTokens,
    cost: row.cost,
  }
}
