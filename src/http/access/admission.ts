/**
 * The limits and charges of a workspace, as the requests see them.
 *
 * @module
 */

import { counted } from '../../api/words.js'
import type { Caller } from '../../accounts/accounts.js'
import type { Entrance } from './places.js'
import type { NewRetryKey } from '../../accounts/ledger/retry-keys.js'
import type { StoreFigures as WriteFigures } from '../../accounts/ledger/store-health.js'
import type { Decision } from '../../decide/types.js'
import { OiError } from '../../errors.js'

/** The facts of an answer that are charged. */
export type Charged = Pick<Decision, 'model' | 'usage' | 'cached_tokens'>

/** The state of bookings. */
export interface StoreFigures extends WriteFigures {
  /** Answers whose usage is not in the file yet. */
  readonly pendingAnswers: number
}

export interface Admission {
  /**
   * Takes `count` of the workspace's requests per minute, all or none.
   *
   * @param repeats - Whether they may have been charged before: no credits are needed then, and
   *   `requireFunds()` is called if it turns out otherwise.
   * @throws {@link OiError} `ERR_RATE_LIMIT`, with the time until the next try (a `count` above the
   *   limit is never allowed as a whole); `ERR_BALANCE`; `ERR_OVERLOADED` while bookings cannot be
   *   written, or the accounts cannot be read.
   */
  take(caller: Caller, count: number, repeats?: boolean): void
  /**
   * Refuses what `take()` refuses for want of credits or tokens.
   *
   * @throws {@link OiError} `ERR_BALANCE`.
   */
  requireFunds(caller: Caller): void
  /** Gives back one request that `take()` took: it was refused for want of a place. */
  giveBack(caller: Caller): void
  /**
   * Refuses early, before the body is read, what `enter()` would refuse. Takes nothing.
   *
   * @throws {@link OiError} As `enter()`.
   */
  requireRoom(caller: Caller): void
  /**
   * Takes one of the workspace's concurrent places, or waits for one.
   *
   * @returns Undefined if it is taken, else a promise that resolves when it is, and rejects with
   *   the errors of `enter()` or with the signal's reason.
   * @throws {@link OiError} `ERR_CONCURRENCY` if too many requests wait for the workspace's places,
   *   `ERR_OVERLOADED` if too many of its requests wait for the places that all workspaces share.
   */
  enter(caller: Caller, entrance: Entrance): Promise<void> | undefined
  /** Gives a place back. Never throws. */
  leave(caller: Caller): void
  /**
   * Charges an answered request. Never throws.
   *
   * @param retry - The key for which it is charged once.
   * @returns A promise that the reply must wait for, of whether it was charged now; undefined: it
   *   was, and the reply need not wait. It rejects with `ERR_OVERLOADED` if the booking could not be
   *   written within about a second, and with `ERR_IDEMPOTENCY_KEY` if the key is another request's:
   *   the answer is then never charged, and the reply must be that error.
   */
  book(caller: Caller, decision: Charged, retry?: NewRetryKey): Promise<boolean> | undefined
  /** The current `x-ratelimit-*` headers: name, value, …; none for unlimited values. */
  headers(caller: Caller): readonly string[]
  /** Why the accounts make the server unfit for requests, if they do. Never throws. */
  trouble?(): string | undefined
  /** Whether limits are kept with other nodes at the moment; undefined: they never are. */
  shared?(): boolean
  /** The number of requests that wait for a place. */
  waiting?(): number
  /** Undefined if nothing is booked. */
  storeFigures?(): StoreFigures | undefined
}

/** For servers without accounts: everything is allowed, nothing is charged. */
export const openAdmission: Admission = {
  take: () => {},
  requireFunds: () => {},
  giveBack: () => {},
  requireRoom: () => {},
  enter: () => undefined,
  leave: () => {},
  book: () => undefined,
  headers: () => [],
}

/** @param limit - Requests per minute. */
export function minuteUsedUp({ workspace }: Caller, limit: number, retryAfterMs: number): OiError {
  const message = `The workspace ${workspace} has ${counted(limit, 'request')} per minute, used up`
  return new OiError('ERR_RATE_LIMIT', message, { retryAfterMs })
}
