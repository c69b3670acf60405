/**
 * Budgets: a number of tokens in each day, week or month, in UTC.
 *
 * Pure: no store.
 *
 * @module
 */

import { OiError } from '../errors.js'
import { dayMs } from './ledger/booking.js'

export type Period = 'day' | 'week' | 'month'

export interface Budget {
  /** Input and output tokens of the answers of one period: 1 to {@link mostBudgetTokens}. */
  readonly tokens: number
  readonly period: Period
}

/** A budget and the period that a moment is in. Times are milliseconds since 1970. */
export interface BudgetState extends Budget {
  readonly usedTokens: number
  readonly startMs: number
  /** When the next period begins. */
  readonly endMs: number
}

export const periods: readonly Period[] = ['day', 'week', 'month']
export const mostBudgetTokens = 1_000_000_000_000_000

/** 1970 began on a Thursday: this is its first Monday. */
const firstMondayMs = 4 * dayMs

/** The period that `nowMs` is in; a week begins on Monday. */
export function periodAt(period: Period, nowMs: number): { startMs: number; endMs: number } {
  if (period === 'month') {
    const now = new Date(nowMs)
    const [year, month] = [now.getUTCFullYear(), now.getUTCMonth()]
    return { startMs: Date.UTC(year, month), endMs: Date.UTC(year, month + 1) }
  }
  const [lengthMs, firstMs] = period === 'day' ? [dayMs, 0] : [7 * dayMs, firstMondayMs]
  const startMs = firstMs + Math.floor((nowMs - firstMs) / lengthMs) * lengthMs
  return { startMs, endMs: startMs + lengthMs }
}

/** @throws {@link OiError} `ERR_ACCOUNTS` if it is out of range. */
export function checkBudget({ tokens, period }: Budget): void {
  if (!Number.isSafeInteger(tokens) || tokens < 1 || tokens > mostBudgetTokens) {
    const rule = `expected 1 to ${mostBudgetTokens} tokens, got ${tokens}`
    throw new OiError('ERR_ACCOUNTS', `budget: ${rule}`)
  }
  if (!periods.includes(period)) {
    throw new OiError('ERR_ACCOUNTS', `budget: expected ${periods.join(', ')}, got ${period}`)
  }
}

/** The end of a period, for people and programs: `2026-02-01T00:00:00Z`. */
export const resetText = (endMs: number) => `${new Date(endMs).toISOString().slice(0, 19)}Z`
