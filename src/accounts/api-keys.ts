/**
 * The keys of workspaces: created, changed, rotated, revoked.
 *
 * Rules
 *   1. A secret is returned once, by the call that made it. Its SHA-256 is stored.
 *   2. No message contains a secret.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Changes } from './changes.js'
import { type Connection, execute, selectAll, selectOne } from './store/connection.js'
import { hashBytes, hashSecret, newSecret } from './keys.js'
import { checkName } from './names.js'

/** A key without its secret. Times are milliseconds since 1970, UTC. */
export interface Key {
  readonly id: number
  readonly name: string
  readonly workspaceId: number
  readonly workspace: string
  /** The last four characters of the secret. */
  readonly lastFour: string
  readonly createdMs: number
  readonly usedMs: number | null
  readonly revokedMs: number | null
  /** When it expires; null: never. */
  readonly expiresMs: number | null
  /** Since when it is blocked; null: it is not. */
  readonly blockedMs: number | null
  /** Own names of the models that it may use; null: all. */
  readonly models: readonly string[] | null
  /** The key that replaces it. */
  readonly replacedBy: number | null
}

/** A key with its secret, which is shown only once. */
export interface NewKey extends Key {
  readonly secret: string
}

/** The terms of a key, set when it is created and changed later. */
export interface KeyTerms {
  readonly name: string
  readonly expiresMs: number | null
  readonly models: readonly string[] | null
}

type KeyState = 'active' | 'blocked' | 'expired' | 'revoked'

type Row = Omit<Key, 'models'> & { readonly models: string | null }

const select = `SELECT keys.id, keys.name, workspace_id AS workspaceId,
  workspaces.name AS workspace, last_four AS lastFour, keys.created_ms AS createdMs,
  used_ms AS usedMs, revoked_ms AS revokedMs, expires_ms AS expiresMs, blocked_ms AS blockedMs,
  models, replaced_by AS replacedBy FROM keys JOIN workspaces ON workspaces.id = workspace_id`

const mostModels = 100

/** Only an active key is accepted. */
export function keyState({ revokedMs, blockedMs, expiresMs }: Key): KeyState {
  if (revokedMs !== null) return 'revoked'
  if (expiresMs !== null && expiresMs <= Date.now()) return 'expired'
  return blockedMs === null ? 'active' : 'blocked'
}

export class ApiKeys {
  readonly #db: Connection
  readonly #changes: Changes

  constructor(db: Connection, changes: Changes) {
    this.#db = db
    this.#changes = changes
  }

  /**
   * Creates a key of an existing workspace. Its secret is only in this result.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if the name or the models are invalid, or the expiry is
   *   past.
   */
  create(workspaceId: number, { name, expiresMs, models }: KeyTerms): NewKey {
    check({ name, expiresMs, models })
    const secret = newSecret()
    const made = selectOne<{ id: number }>(
      this.#db,
      `INSERT INTO keys (workspace_id, name, hash, last_four, created_ms, expires_ms, models)
         VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
      ...[workspaceId, name, hashBytes(hashSecret(secret)), secret.slice(-4), Date.now()],
      ...[expiresMs, modelsText(models)],
    )
    this.#changes.mark()
    return { ...this.get(made!.id), secret }
  }

  /** Oldest first, revoked ones included. @param workspaceId - Only this workspace's keys. */
  list(workspaceId?: number): Key[] {
    const rows =
      workspaceId === undefined
        ? selectAll<Row>(this.#db, `${select} ORDER BY keys.id`)
        : selectAll<Row>(this.#db, `${select} WHERE workspace_id = ? ORDER BY keys.id`, workspaceId)
    return rows.map(keyOf)
  }

  /** @throws {@link OiError} `ERR_NOT_FOUND` if there is no such key. */
  get(id: number): Key {
    const row = selectOne<Row>(this.#db, `${select} WHERE keys.id = ?`, id)
    if (row !== undefined) return keyOf(row)
    throw new OiError('ERR_NOT_FOUND', `There is no key ${id}: oi keys list shows them`)
  }

  /**
   * Changes the given terms, from the next request on.
   *
   * @throws {@link OiError} `ERR_NOT_FOUND`; `ERR_CONFLICT` for a key that was revoked;
   *   `ERR_ACCOUNTS` as {@link create}.
   */
  change(id: number, terms: Partial<KeyTerms>, blocked?: boolean): Key {
    check(terms)
    const before = this.get(id)
    if (before.revokedMs !== null) {
      throw new OiError('ERR_CONFLICT', `The key ${id} has been revoked: make another one`)
    }
    const { name, expiresMs, models } = { ...before, ...terms }
    const { blockedMs } = before
    const isBlocked = blocked ?? blockedMs !== null
    this.#update(id, {
      ...{ name, expiresMs, models },
      blockedMs: isBlocked ? (blockedMs ?? Date.now()) : null,
    })
    return this.get(id)
  }

  /**
   * Creates a key in place of another, which expires after a while.
   *
   * @param overlapMs - How long both keys are valid.
   * @throws {@link OiError} `ERR_NOT_FOUND`; `ERR_CONFLICT` for a key that is not active, or has
   *   been replaced already.
   */
  rotate(id: number, overlapMs: number): NewKey {
    const old = this.get(id)
    const state = keyState(old)
    if (state !== 'active') throw new OiError('ERR_CONFLICT', `The key ${id} is ${state}`)
    if (old.replacedBy !== null) {
      const message = `The key ${id} has been replaced by ${old.replacedBy}: rotate that one`
      throw new OiError('ERR_CONFLICT', message)
    }
    const next = this.create(old.workspaceId, old)
    const endMs = Date.now() + overlapMs
    this.#update(id, { ...old, expiresMs: Math.min(old.expiresMs ?? Infinity, endMs) })
    execute(this.#db, 'UPDATE keys SET replaced_by = ? WHERE id = ?', next.id, id)
    return next
  }

  /**
   * Revokes a key for good. Revoking it again changes nothing.
   *
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such key.
   */
  revoke(id: number): Key {
    const sql = 'UPDATE keys SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL'
    execute(this.#db, sql, Date.now(), id)
    this.#changes.mark()
    return this.get(id)
  }

  #update(id: number, values: Pick<Key, 'name' | 'expiresMs' | 'models' | 'blockedMs'>): void {
    const { name, expiresMs, models, blockedMs } = values
    const sql = 'UPDATE keys SET name = ?, expires_ms = ?, models = ?, blocked_ms = ? WHERE id = ?'
    execute(this.#db, sql, name, expiresMs, modelsText(models), blockedMs, id)
    this.#changes.mark()
  }
}

function keyOf({ models, ...row }: Row): Key {
  return { ...row, models: models === null ? null : (JSON.parse(models) as string[]) }
}

function modelsText(models: readonly string[] | null): string | null {
  return models === null ? null : JSON.stringify(models)
}

function check({ name, expiresMs, models }: Partial<KeyTerms>): void {
  if (name !== undefined) checkName('key', name)
  if (typeof expiresMs === 'number' && expiresMs <= Date.now()) {
    throw new OiError('ERR_ACCOUNTS', 'expires_at: expected a time in the future')
  }
  if (models && (models.length === 0 || models.length > mostModels)) {
    throw new OiError('ERR_ACCOUNTS', `models: expected 1 to ${mostModels} names`)
  }
}
