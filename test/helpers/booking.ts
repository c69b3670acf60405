/** An answer to book; only its cost and its model vary. */
import type { Booking } from '../../src/accounts/ledger/booking.js'

export const bookingOf = (workspaceId: number, cost: number, model = 'm'): Booking => ({
  workspaceId,
  keyId: 0,
  model,
  timeMs: Date.UTC(2026, 0, 31, 12),
  requests: 1,
  inputTokens: 10,
  outputTokens: 2,
  imageTokens: 0,
  cachedTokens: 4,
  cost,
  charged: true,
})
