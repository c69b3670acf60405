/**
 * The callers whose requests are answered: those with a valid key and, if so set, programs on this
 * machine without a key.
 *
 * Rules
 *   1. A caller is remembered within one turn of the event loop: requests read in the same turn
 *      were sent before anybody could know of a change in it.
 *   2. A page of another site is no program of this machine, although its requests come from here.
 *   3. Many clients cannot send no key. From a program that needs none, what cannot be a key of this
 *      server counts as none; what may be one is checked as ever.
 *
 * @module
 */

import type { Accounts, Caller } from '../../accounts/accounts.js'
import type { TrustedProxies } from './client-address.js'
import { type Cors, isOfPage } from './cors.js'
import { whyElsewhere } from './this-machine.js'
import type { Client, Head } from '../contract.js'

/** The workspace of requests without a key. */
const anonymousWorkspace = 'default'

/** An `Authorization` that may have a key of this server. */
const keyed = /^(?:bearer\s+)?oi-/i

/** Settings that can change. */
interface CallersSettings {
  /** Whether programs on this machine need no key. */
  readonly anonymous: boolean
  readonly cors: Cors | undefined
  readonly trustedProxies: TrustedProxies
}

export class Callers {
  readonly #accounts: Pick<Accounts, 'authenticate' | 'callerOf'>
  /** Callers by the value of `Authorization` (rule 1). */
  readonly #callers = new Map<string, Caller>()

  constructor(accounts: Pick<Accounts, 'authenticate' | 'callerOf'>) {
    this.#accounts = accounts
  }

  /**
   * @param header - The value of `Authorization`.
   * @throws {@link OiError} As `Accounts.authenticate`.
   */
  callerOf(header: string, head: Head, client: Client, settings: CallersSettings): Caller {
    // Checked for each request: others without a key may come from elsewhere.
    const isAnonymous =
      settings.anonymous && !keyed.test(header) && isOfHere(head, client, settings)
    const known = isAnonymous ? '' : header
    let caller = header === '' && !isAnonymous ? undefined : this.#callers.get(known)
    if (caller === undefined) {
      caller = isAnonymous
        ? this.#accounts.callerOf(anonymousWorkspace)
        : this.#accounts.authenticate(header)
      if (this.#callers.size === 0) setImmediate(() => this.#callers.clear())
      this.#callers.set(known, caller)
    }
    return caller
  }
}

function isOfHere(head: Head, client: Client, { cors, trustedProxies }: CallersSettings): boolean {
  return !isOfPage(head, cors) && whyElsewhere(head, client.address(), trustedProxies) === undefined
}
