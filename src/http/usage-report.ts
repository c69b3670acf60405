/**
 * The body of GET /v1/usage, which `oi workspaces usage --json` shows as well.
 *
 * @module
 */

import type { WorkspaceUsage } from '../accounts/accounts.js'

export function usageReport({ workspace, usage }: WorkspaceUsage) {
  return {
    workspace: workspace.name,
    balance: workspace.balance,
    limits: {
      requests_per_minute: workspace.requestsPerMinute,
      concurrent: workspace.concurrent,
    },
    usage: usage.map((row) => ({
      day: row.day,
      model: row.model,
      requests: row.requests,
      input_tokens: row.inputTokens,
      output_tokens: row.outputTokens,
      image_tokens: row.imageTokens,
      cached_tokens: row.cachedTokens,
      cost: row.cost,
    })),
  }
}
