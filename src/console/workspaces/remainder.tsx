/**
 * The rest of a workspace's budget and balance, each with its unit.
 *
 * @module
 */

import { compact, count, credits, date, dateTime } from '../format.js'
import { Meter } from '../parts/small.js'
import type { Budget, Workspace } from '../wire.js'

/** The rest in a few words, below the workspace's name. */
export function Remainder({ of }: { readonly of: Workspace | undefined }) {
  if (of === undefined) return null
  const { budget, balance } = of
  if (budget === null && balance === null) return <span class="sub faint">no budget</span>
  return (
    <span class="sub">
      {budget !== null && (
        <span
          class={budget.remaining_tokens === 0 ? 'bad' : undefined}
          title={`${count(budget.remaining_tokens)} of ${count(budget.tokens)} tokens`}
        >
          {compact(budget.remaining_tokens)} of {compact(budget.tokens)} tokens left this{' '}
          {budget.period}, resets {date(budget.resets_at)} UTC
        </span>
      )}
      {balance !== null && (
        <span class={balance <= 0 ? 'bad' : undefined}>{credits(balance)} credits left</span>
      )}
    </span>
  )
}

/** A budget with its bar. */
export function BudgetBar({ of: budget }: { readonly of: Budget }) {
  const share = budget.used_tokens / budget.tokens
  const tone = share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : 'main'
  return (
    <div class="budget">
      <Meter share={share} tone={tone} label="Part of the budget that is used" />
      <p class={share >= 1 ? 'bad' : undefined}>
        {share >= 1 ? 'Used up: ' : ''}
        {count(budget.used_tokens)} of {count(budget.tokens)} tokens used this {budget.period}
      </p>
      <p class="faint">Resets {dateTime(budget.resets_at)} UTC</p>
    </div>
  )
}

export function Amount({ of: balance }: { readonly of: number | null }) {
  if (balance === null) return <span class="faint">no limit</span>
  return <span class={balance <= 0 ? 'bad' : undefined}>{credits(balance)} credits</span>
}
