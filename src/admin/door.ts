/**
 * Admission to the admin API: by the client's origin and its session.
 *
 * @module
 */

import type { Accounts } from '../accounts/accounts.js'
import type { Actor } from '../accounts/administration.js'
import type { Session } from '../accounts/admin-access.js'
import type { AdminOperation } from '../api/admin/operations.js'
import type { TrustedProxies } from '../http/access/client-address.js'
import { requireCsrf, requireSession, sessionOf } from './guard.js'
import { type AdminMode, type Origin, originOf, requireOwnPage } from './reach.js'
import type { Head } from '../http/contract.js'

interface DoorOptions {
  readonly mode: AdminMode
  readonly tls: boolean
  readonly accounts: Accounts
  /** The proxies trusted now. */
  readonly trustedProxies: () => TrustedProxies
}

export class AdminDoor {
  readonly #options: DoorOptions

  constructor(options: DoorOptions) {
    this.#options = options
  }

  /** @throws {@link OiError} `ERR_FORBIDDEN` if clients there have no access. */
  originOf(head: Head, peer: string): Origin {
    const { mode, tls, trustedProxies } = this.#options
    return originOf(head, peer, { mode, tls, trustedProxies: trustedProxies() })
  }

  /**
   * @param peer - The address of the connection's peer.
   * @returns The session; undefined if the operation needs none and there is none.
   * @throws {@link OiError} `ERR_FORBIDDEN`, `ERR_SESSION`.
   */
  enter(head: Head, peer: string, { needs, method }: AdminOperation): Session | undefined {
    const { admin } = this.#options.accounts
    if (method !== 'get') requireOwnPage(head, peer, this.#options.trustedProxies())
    if (needs === 'nothing') return sessionOf(head, admin)
    const session = requireSession(head, admin)
    if (needs === 'csrf') requireCsrf(head, session, method === 'get')
    return session
  }

  /** The actor in the audit log. */
  actorOf({ address }: Origin) {
    const actor: Actor = { kind: 'console', detail: address }
    return { actor, administration: this.#options.accounts.administer(actor) }
  }
}
