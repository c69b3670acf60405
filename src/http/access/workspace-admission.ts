/**
 * Admission over the accounts: the limits and balance of each workspace, and its bookings.
 *
 * Rules
 *   1. Everything that a request needs is in memory, and is read again after the accounts have
 *      changed: `authenticate`, which is called before, has checked that.
 *   2. Requests per minute and places are counted per process: several processes on one data folder
 *      each allow the limits, unless they keep them together (shared/). The balance is common to all.
 *   3. Values in memory are valid as long as the accounts cannot report changes: a request is
 *      refused only if something must be read and cannot. A reply's headers never depend on it.
 *   4. A balance in memory is the file's, minus the bookings that are not written yet. Requests
 *      admitted while it was above 0 can take it below, and likewise overdraw a budget; with other
 *      servers on the same accounts, those of a moment.
 *
 * @module
 */

import type { Accounts, Caller } from '../../accounts/accounts.js'
import { resetText } from '../../accounts/budget.js'
import { costOf } from '../../accounts/ledger/money.js'
import { type Entrance, Places } from './places.js'
import { RequestWindow, windowMs } from './request-window.js'
import type { NewRetryKey } from '../../accounts/ledger/retry-keys.js'
import type { WorkspaceTerms } from '../../accounts/terms.js'
import { OiError } from '../../errors.js'
import { type Charged, type Admission, minuteUsedUp, type StoreFigures } from './admission.js'

/** When a caller may try again while the accounts cannot be written, milliseconds. */
const writeAgainMs = 1000
/** How long a balance in memory counts while other servers spend it, too; milliseconds. */
const spentMs = 250
/** Whoever sent nothing for so long is read again alone, milliseconds. */
const neededMs = 5000
/** A count of changes that no read ever has. */
const never = -1

export interface WorkspaceAdmissionOptions {
  readonly accounts: Pick<
    Accounts,
    'changes' | 'inGrace' | 'ledger' | 'prices' | 'remote' | 'terms' | 'trouble'
  >
  /** Places of all workspaces together. Default: unlimited. */
  readonly places?: number | undefined
  /** How long a request may wait for a place, milliseconds. Default 10,000. */
  readonly placeWaitMs?: number | undefined
  /** Milliseconds on a clock that never goes back. `performance.now` by default. */
  readonly now?: () => number
  /** Milliseconds since 1970, for the periods of budgets. `Date.now` by default. */
  readonly wallNow?: () => number
}

/** The facts kept of a workspace that has sent requests. */
interface Standing {
  readonly window: RequestWindow
  requestsPerMinute: number
  concurrent: number
  balance: number | null
  budget: WorkspaceTerms['budget']
  /** Tokens used in the budget's current period. */
  usedTokens: number
  /** The count of changes when these facts were read. */
  readAt: number
  /** When that was, and when they were last needed; of `now`. */
  readMs: number
  neededMs: number
}

export class WorkspaceAdmission implements Admission {
  readonly #accounts: WorkspaceAdmissionOptions['accounts']
  readonly #now: () => number
  readonly #wallNow: () => number
  readonly #places: Places
  readonly #standings = new Map<number, Standing>()

  constructor({ accounts, places, placeWaitMs, now, wallNow }: WorkspaceAdmissionOptions) {
    this.#accounts = accounts
    this.#now = now ?? (() => performance.now())
    this.#wallNow = wallNow ?? Date.now
    this.#places = new Places({ total: places, waitMs: placeWaitMs, now })
    accounts.ledger.start()
  }

  /** As in {@link WorkspaceAdmissionOptions}, from now on. */
  adjust({ places, placeWaitMs }: { readonly places: number; readonly placeWaitMs: number }): void {
    this.#places.adjust({ total: places, waitMs: placeWaitMs })
  }

  /** How long a request may wait for a place, milliseconds. */
  get placeWaitMs(): number {
    return this.#places.waitMs
  }

  take(caller: Caller, count: number, repeats = false): void {
    const standing = this.#of(caller)
    const { requestsPerMinute: limit, balance, window } = standing
    const { ledger } = this.#accounts
    const trouble = balance === null ? undefined : ledger.health.refusal
    if (trouble !== undefined || ledger.full) {
      const message = 'The server cannot write its accounts'
      throw new OiError('ERR_OVERLOADED', message, { retryAfterMs: writeAgainMs })
    }
    if (!repeats) this.requireFunds(caller)
    // Done here, where it may fail: book() must not.
    this.#accounts.prices.refresh()
    if (limit === 0) return
    // A count above the limit is never allowed at once, only in parts.
    const retryAfterMs = count > limit ? windowMs : window.take(count, limit, this.#now())
    if (retryAfterMs > 0) throw minuteUsedUp(caller, limit, retryAfterMs)
  }

  /** The limits of the caller's workspace; 0: unlimited. */
  termsOf(caller: Caller): { readonly requestsPerMinute: number; readonly concurrent: number } {
    return this.#of(caller)
  }

  requireFunds(caller: Caller): void {
    const { balance, budget, usedTokens } = this.#of(caller)
    if (balance !== null && balance <= 0) {
      throw new OiError(
        'ERR_BALANCE',
        `The balance of the workspace ${caller.workspace} is used up`,
      )
    }
    if (budget !== null && usedTokens >= budget.tokens) {
      throw new OiError(
        'ERR_BALANCE',
        `The budget of the workspace ${caller.workspace}, ${budget.tokens} tokens a ` +
          `${budget.period}, is used up until ${resetText(budget.endMs)}`,
      )
    }
  }

  giveBack({ workspaceId }: Caller): void {
    this.#standings.get(workspaceId)?.window.giveBack()
  }

  requireRoom(caller: Caller): void {
    this.#places.requireRoom(caller.workspaceId, this.#of(caller).concurrent)
  }

  enter(caller: Caller, entrance: Entrance): Promise<void> | undefined {
    return this.#places.enter(caller.workspaceId, this.#of(caller).concurrent, entrance)
  }

  leave({ workspaceId }: Caller): void {
    this.#places.leave(workspaceId)
  }

  book(
    { keyId, workspaceId }: Caller,
    { model, usage, cached_tokens }: Charged,
    retry?: NewRetryKey,
  ): Promise<boolean> | undefined {
    const standing = this.#standings.get(workspaceId)!
    const cost = costOf(usage, this.#accounts.prices.of(model))
    const limited = standing.balance !== null
    if (standing.balance !== null) standing.balance -= cost
    const tokens = usage.input_tokens + usage.output_tokens
    standing.usedTokens += tokens
    const { ledger } = this.#accounts
    // With a key the reply says whether it was charged, unless that cannot be known now.
    const wait = limited || (retry !== undefined && !ledger.health.failing)
    const booking = {
      workspaceId,
      keyId,
      model,
      timeMs: Date.now(),
      requests: 1,
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      imageTokens: usage.image_tokens ?? 0,
      cachedTokens: cached_tokens,
      cost,
      charged: limited,
      retry: retry && { ...retry, answered: !wait },
    }
    const booked = ledger.book(booking, wait)
    // A booking that was not made must not be missing from the balance: it is read again.
    const undo = () => (standing.readAt = never)
    booked?.then((made) => made || undo(), undo)
    return booked
  }

  trouble(): string | undefined {
    return this.#accounts.trouble()
  }

  waiting(): number {
    return this.#places.waitingInAll
  }

  storeFigures(): StoreFigures {
    const { health, pendingAnswers } = this.#accounts.ledger
    return { ...health.figures, pendingAnswers }
  }

  headers(caller: Caller): readonly string[] {
    const standing = this.#known(caller)
    if (standing === undefined) return []
    const { window, requestsPerMinute, concurrent } = standing
    const headers: string[] = []
    if (requestsPerMinute > 0) {
      const now = this.#now()
      headers.push(
        'x-ratelimit-limit-requests',
        String(requestsPerMinute),
        'x-ratelimit-remaining-requests',
        String(Math.max(0, requestsPerMinute - window.used(now))),
        'x-ratelimit-reset-requests',
        String(Math.ceil(window.emptyInMs(now) / 1000)),
      )
    }
    if (concurrent > 0) {
      headers.push(
        'x-ratelimit-limit-concurrent',
        String(concurrent),
        'x-ratelimit-remaining-concurrent',
        String(Math.max(0, concurrent - this.#places.taken(caller.workspaceId))),
      )
    }
    return headers
  }

  /** The last known facts, if they cannot be read now. */
  #known(caller: Caller): Standing | undefined {
    try {
      return this.#of(caller)
    } catch {
      return this.#standings.get(caller.workspaceId)
    }
  }

  #of({ workspaceId }: Caller): Standing {
    const { changes, remote, terms } = this.#accounts
    const known = this.#standings.get(workspaceId)
    const nowMs = remote ? this.#now() : 0
    if (known !== undefined) {
      known.neededMs = nowMs
      const isRead = known.readAt === changes.count && !this.#isOver(known.budget)
      if (isRead && !(remote && this.#mayBeSpent(known, nowMs))) return known
      if (remote && this.#readAll(nowMs, isRead)) return known
    }
    const readAt = changes.count
    const now = { ...factsOf(terms.of(workspaceId, this.#wallNow())), readAt, readMs: nowMs }
    if (known !== undefined) return Object.assign(known, now)
    const standing = { window: new RequestWindow(), neededMs: nowMs, ...now }
    this.#standings.set(workspaceId, standing)
    return standing
  }

  /** Whether other servers may have spent what this one counts on. */
  #mayBeSpent({ balance, budget, readMs }: Standing, nowMs: number): boolean {
    return (balance !== null || budget !== null) && nowMs - readMs > spentMs
  }

  /**
   * Reads everything that is out of date and was needed lately, in one go.
   *
   * @param even - Whether what is known will do if it cannot be read: others' spending alone.
   * @returns Whether what is known is up to date, or will do.
   */
  #readAll(nowMs: number, even: boolean): boolean {
    const { changes, terms } = this.#accounts
    const old = [...this.#standings].filter(
      ([, standing]) =>
        nowMs - standing.neededMs <= neededMs &&
        (standing.readAt !== changes.count ||
          this.#isOver(standing.budget) ||
          this.#mayBeSpent(standing, nowMs)),
    )
    const readAt = changes.count
    try {
      const found = terms.ofAll(
        old.map(([id]) => id),
        this.#wallNow(),
      )
      for (const [id, standing] of old) {
        const now = found.get(id)
        if (now !== undefined) Object.assign(standing, factsOf(now), { readAt, readMs: nowMs })
      }
      return old.every(([id]) => found.has(id))
    } catch (error) {
      if (!even && !this.#accounts.inGrace) throw error
      for (const [, standing] of old) standing.readMs = nowMs
      return true
    }
  }

  #isOver(budget: Standing['budget']): boolean {
    return budget !== null && budget.endMs <= this.#wallNow()
  }
}

function factsOf({ balance, budget, requestsPerMinute, concurrent }: WorkspaceTerms) {
  const usedTokens = budget?.usedTokens ?? 0
  return { balance, budget, usedTokens, requestsPerMinute, concurrent }
}
