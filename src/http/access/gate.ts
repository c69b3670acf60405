/**
 * What a workspace may, and what it is charged: as the exchanges see it.
 *
 * @module
 */

import type { Caller } from '../../accounts/accounts.js'
import type { Entrance } from '../../accounts/places.js'
import type { StoreFigures as WriteFigures } from '../../accounts/store-health.js'
import type { Decision } from '../../decide/types.js'

/** What is known of an answer when it is charged. */
export type Charged = Pick<Decision, 'model' | 'usage' | 'cached_tokens'>

/** How bookings stand. */
export interface StoreFigures extends WriteFigures {
  /** Answers whose usage is not in the file yet. */
  readonly pendingAnswers: number
}

export interface Gate {
  /**
   * Takes one of the workspace's requests per minute for each of `count`, all or none.
   *
   * @throws {@link OiError} `ERR_RATE_LIMIT`, with the time until it may try again (a `count` of
   *   more than the limit is never let in whole); `ERR_BALANCE`; `ERR_OVERLOADED` while bookings
   *   cannot be written, or the accounts not be read.
   */
  take(caller: Caller, count: number): void
  /** Gives one of the requests that `take()` took back: it was refused for want of a place. */
  giveBack(caller: Caller): void
  /**
   * Refuses early, before its body is read, what `enter()` would refuse. Takes nothing.
   *
   * @throws {@link OiError} As `enter()`.
   */
  requireRoom(caller: Caller): void
  /**
   * Takes one of the workspace's concurrent places, or waits for one.
   *
   * @returns Undefined if it is taken, else a promise that resolves when it is, and rejects with
   *   what `enter()` throws or with the signal's reason.
   * @throws {@link OiError} `ERR_CONCURRENCY` if too many wait for the workspace's places,
   *   `ERR_OVERLOADED` if too many of it wait for those that all workspaces share.
   */
  enter(caller: Caller, entrance: Entrance): Promise<void> | undefined
  /** Gives a place back. Never throws. */
  leave(caller: Caller): void
  /**
   * Charges an answered request. Never throws.
   *
   * @returns What the reply has to wait for; undefined: nothing. It rejects with
   *   `ERR_OVERLOADED` if the booking could not be written within about a second: then it is
   *   never charged, and the reply must be that error.
   */
  book(caller: Caller, decision: Charged): Promise<void> | undefined
  /** The `x-ratelimit-*` headers as they stand: name, value, …; none for what is unlimited. */
  headers(caller: Caller): readonly string[]
  /** Why the server should be given no requests, if its store is the reason. Never throws. */
  trouble?(): string | undefined
  /** How many requests wait for a place. */
  waiting?(): number
  /** Undefined if nothing is booked. */
  storeFigures?(): StoreFigures | undefined
}

/** For servers without accounts: everything is allowed, nothing is charged. */
export const openGate: Gate = {
  take: () => {},
  giveBack: () => {},
  requireRoom: () => {},
  enter: () => undefined,
  leave: () => {},
  book: () => undefined,
  headers: () => [],
}
