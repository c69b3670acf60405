/**
 * Every change that an administrator makes to the accounts: the commands of `oi` and the admin API
 * call these.
 *
 * Rule: a change and its entry in the audit log are one transaction.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Accounts, Workspace } from './accounts.js'
import type { Key, KeyTerms, NewKey } from './api-keys.js'
import type { Actor, Deed } from './audit.js'
import type { Budget } from './budget.js'
import type { Connection } from './store/connection.js'
import type { Price } from './ledger/money.js'
import type { ModelPrice } from './ledger/prices.js'
import type { Limits } from './terms.js'

export type { Actor } from './audit.js'

/** The changes of a workspace; what is left out stays as it is. */
export interface WorkspaceChange {
  readonly name?: string | undefined
  readonly limits?: Partial<Limits> | undefined
  /** Null: unlimited. */
  readonly budget?: Budget | null | undefined
  readonly archived?: boolean | undefined
}

/** A workspace's id, or its name. */
type Which = number | string

export class Administration {
  readonly #accounts: Accounts
  readonly #db: Connection
  readonly #actor: Actor

  constructor(accounts: Accounts, db: Connection, actor: Actor) {
    this.#accounts = accounts
    this.#db = db
    this.#actor = actor
  }

  /**
   * @throws {@link OiError} `ERR_CONFLICT` if the name is taken, `ERR_ACCOUNTS` if a value is
   *   invalid.
   */
  createWorkspace({ name, ...terms }: WorkspaceChange & { readonly name: string }): Workspace {
    return this.#db.write(() => {
      const { id } = this.#accounts.workspaces.create(name)
      this.#setTerms(id, terms)
      return this.#wrote('workspace.create', undefined, this.#accounts.workspaces.get(id))
    })
  }

  /** @throws As {@link createWorkspace}; `ERR_NOT_FOUND`. */
  changeWorkspace(which: Which, { name, archived, ...terms }: WorkspaceChange): Workspace {
    return this.#changeWorkspace('workspace.change', which, (id) => {
      const { workspaces } = this.#accounts
      if (name !== undefined) workspaces.rename(id, name)
      if (archived !== undefined) workspaces.archive(id, archived)
      this.#setTerms(id, terms)
    })
  }

  /** @param amount - Millionths of a credit. @throws As `Credits.add`; `ERR_NOT_FOUND`. */
  credit(which: Which, amount: number): Workspace {
    return this.#changeWorkspace('workspace.credit', which, (id) =>
      this.#accounts.credits.add(id, amount),
    )
  }

  /** @throws {@link OiError} `ERR_NOT_FOUND`. */
  makeUnlimited(which: Which): Workspace {
    return this.#changeWorkspace('workspace.unlimited', which, (id) =>
      this.#accounts.credits.makeUnlimited(id),
    )
  }

  /**
   * @throws As `ApiKeys.create`; `ERR_NOT_FOUND` if there is no such workspace, `ERR_CONFLICT` if it
   *   is archived.
   */
  createKey(workspaceId: number, terms: KeyTerms): NewKey {
    return this.#db.write(() => {
      const { name, archivedMs } = this.#accounts.workspaces.get(workspaceId)
      if (archivedMs !== null)
        throw new OiError('ERR_CONFLICT', `The workspace ${name} is archived`)
      const key = this.#accounts.keys.create(workspaceId, terms)
      this.#wrote('key.create', undefined, this.#accounts.keys.get(key.id))
      return key
    })
  }

  /** @throws As `ApiKeys.change`. */
  changeKey(id: number, terms: Partial<KeyTerms>, blocked?: boolean): Key {
    return this.#changeKey('key.change', id, () => this.#accounts.keys.change(id, terms, blocked))
  }

  /** @throws As `ApiKeys.rotate`. */
  rotateKey(id: number, overlapMs: number): NewKey {
    return this.#changeKey('key.rotate', id, () => this.#accounts.keys.rotate(id, overlapMs))
  }

  /** @throws As `ApiKeys.revoke`. */
  revokeKey(id: number): Key {
    return this.#changeKey('key.revoke', id, () => this.#accounts.keys.revoke(id))
  }

  /** @throws As `Prices.set`. */
  setPrice(model: string, price: Parameters<Accounts['prices']['set']>[1]): ModelPrice {
    const { prices } = this.#accounts
    return this.#db.write(() => {
      const before = prices.list().find((known) => known.model === model)
      const after = prices.set(model, price)
      const deed = { action: 'price.set', target: `price of ${model}`, name: model }
      this.record(deed, before && shownPrice(before), shownPrice(after))
      return after
    })
  }

  /** Records a change, such as one of something outside the accounts' file. */
  record(deed: Deed, before?: unknown, after?: unknown): void {
    this.#accounts.audit.write(this.#actor, deed, before, after)
  }

  #setTerms(id: number, { limits, budget }: WorkspaceChange): void {
    if (limits !== undefined) this.#accounts.terms.setLimits(id, limits)
    if (budget !== undefined) this.#accounts.terms.setBudget(id, budget)
  }

  #changeWorkspace(action: string, which: Which, change: (id: number) => unknown): Workspace {
    return this.#db.write(() => {
      const before = this.#accounts.workspaces.get(which)
      change(before.id)
      return this.#wrote(action, before, this.#accounts.workspaces.get(before.id))
    })
  }

  #changeKey<T>(action: string, id: number, change: () => T): T {
    return this.#db.write(() => {
      const before = this.#accounts.keys.get(id)
      const result = change()
      this.#wrote(action, before, this.#accounts.keys.get(id))
      return result
    })
  }

  #wrote<T extends Workspace | Key>(action: string, before: T | undefined, after: T): T {
    const [kind] = action.split('.')
    const { id, name } = before ?? after
    const deed = { action, target: `${kind} ${id}`, name }
    this.record(deed, before && shown(before), shown(after))
    return after
  }
}

/** The values that an administrator sets; without the usage, which others change meanwhile. */
function shown(value: Workspace | Key) {
  if ('lastFour' in value) {
    const { name, workspace, expiresMs, blockedMs, models, revokedMs, replacedBy } = value
    return {
      ...{ name, workspace, expires_at: dateOf(expiresMs), blocked: blockedMs !== null, models },
      ...{ revoked: revokedMs !== null, replaced_by: replacedBy },
    }
  }
  const { name, requestsPerMinute, concurrent, budget, balance, archivedMs } = value
  return {
    ...{ name, requests_per_minute: requestsPerMinute, concurrent, balance },
    ...(archivedMs !== null && { archived: true }),
    budget: budget && { tokens: budget.tokens, period: budget.period },
  }
}

const shownPrice = ({ input, output, image }: Price) => ({ input, output, image })
const dateOf = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
