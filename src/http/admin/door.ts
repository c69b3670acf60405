/**
 * Who comes in to the admin API: from where, and with whose session.
 *
 * @module
 */

import type { Accounts } from '../../accounts/accounts.js'
import type { Actor } from '../../accounts/administration.js'
import type { Session } from '../../accounts/admin-access.js'
import type { AdminOperation } from '../../api/admin/operations.js'
import type { TrustedProxies } from '../access/client-address.js'
import type { Head } from '../transport/head.js'
import { requireCsrf, requireSession, sessionOf } from './guard.js'
import { type AdminMode, type Origin, originOf, requireOwnPage } from './reach.js'

export interface DoorOptions {
  readonly mode: AdminMode
  readonly tls: boolean
  readonly accounts: Accounts
  /** Those that are trusted now. */
  readonly trustedProxies: () => TrustedProxies
}

export class AdminDoor {
  readonly #options: DoorOptions

  constructor(options: DoorOptions) {
    this.#options = options
  }

  /** @throws {@link OiError} `ERR_FORBIDDEN` if nobody may come from there. */
  originOf(head: Head, peer: string): Origin {
    const { mode, tls, trustedProxies } = this.#options
    return originOf(head, peer, { mode, tls, trustedProxies: trustedProxies() })
  }

  /**
   * @param peer - The address at the other end of the connection.
   * @returns The session; undefined if none is needed, and there is none.
   * @throws {@link OiError} `ERR_FORBIDDEN`, `ERR_SESSION`.
   */
  enter(head: Head, peer: string, { needs, method }: AdminOperation): Session | undefined {
    const { admin } = this.#options.accounts
    if (method !== 'get') requireOwnPage(head, peer, this.#options.trustedProxies())
    if (needs === 'nothing') return sessionOf(head, admin)
    const session = requireSession(head, admin)
    if (needs === 'csrf') requireCsrf(head, session)
    return session
  }

  /** In whose name changes are written down. */
  actorOf({ address }: Origin) {
    const actor: Actor = { kind: 'console', detail: address }
    return { actor, administration: this.#options.accounts.administer(actor) }
  }
}
