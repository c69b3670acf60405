/**
 * Whose requests are answered: those with a good key, and, where that is set, those of this
 * machine's programs without one.
 *
 * Rules
 *   1. Who it is, is remembered in one turn of the event loop: what is read in one was sent before
 *      anybody could know what has changed since it began.
 *   2. A page of another site is no program of this machine, though its requests come from here.
 *
 * @module
 */

import type { Accounts, Caller } from '../../accounts/accounts.js'
import type { TrustedProxies } from './client-address.js'
import { type Cors, isOfPage } from './cors.js'
import type { Client } from '../exchange/exchange.js'
import type { Head } from '../transport/head.js'
import { whyElsewhere } from './this-machine.js'

/** To which requests without a key belong. */
const anonymousWorkspace = 'default'

/** What changes with the settings. */
export interface CallersSettings {
  /** Whether this machine's programs need no key. */
  readonly anonymous: boolean
  readonly cors: Cors | undefined
  readonly trustedProxies: TrustedProxies
}

export class Callers {
  readonly #accounts: Pick<Accounts, 'authenticate' | 'callerOf'>
  /** Rule 1. By the value of `Authorization`. */
  readonly #callers = new Map<string, Caller>()

  constructor(accounts: Pick<Accounts, 'authenticate' | 'callerOf'>) {
    this.#accounts = accounts
  }

  /**
   * @param header - The value of `Authorization`.
   * @throws {@link OiError} As `Accounts.authenticate`.
   */
  callerOf(header: string, head: Head, client: Client, settings: CallersSettings): Caller {
    // Looked at for each: others without a key may come from elsewhere.
    const isAnonymous = header === '' && settings.anonymous && isOfHere(head, client, settings)
    let caller = header === '' && !isAnonymous ? undefined : this.#callers.get(header)
    if (caller === undefined) {
      caller = isAnonymous
        ? this.#accounts.callerOf(anonymousWorkspace)
        : this.#accounts.authenticate(header)
      if (this.#callers.size === 0) setImmediate(() => this.#callers.clear())
      this.#callers.set(header, caller)
    }
    return caller
  }
}

function isOfHere(head: Head, client: Client, { cors, trustedProxies }: CallersSettings): boolean {
  return !isOfPage(head, cors) && whyElsewhere(head, client.address(), trustedProxies) === undefined
}
