/**
 * Finds the caller of a key.
 *
 * A revoked key is refused from the next request on, in every process on the same data folder, and
 * within a second on every node of the same PostgreSQL. Keys that were looked up are remembered only
 * until something changes, and every request asks about that: of SQLite it costs a third of a
 * look-up, of PostgreSQL a thread knows it. While nobody can tell, remembered keys are accepted for
 * a bounded time.
 *
 * @module
 */

import { OiError } from '../errors.js'
import type { Changes } from './changes.js'
import { type Connection, selectAll } from './store/connection.js'
import { hashBytes, keyError } from './keys.js'
import type { Workspace } from './workspaces.js'

/** The caller of a request. */
export interface Caller {
  readonly keyId: number
  readonly workspaceId: number
  readonly workspace: string
  /** When the workspace was made, milliseconds since 1970; its id alone is of one data folder. */
  readonly workspaceMadeMs?: number
  /** Own names of the models that the caller may use; undefined: all. */
  readonly models?: readonly string[] | undefined
}

interface Known {
  readonly caller: Caller
  /** When the key expires, milliseconds since 1970. */
  readonly expiresMs: number
}

/** Beyond it, all are forgotten: a bound on memory, not a cache size to tune. */
const maxRemembered = 10_000
/** Look-ups of keys that are not known in a second, at most, where each takes a network's time. */
const mostLookUps = 300

export class KnownKeys {
  readonly #db: Connection
  readonly #changes: Changes
  /** Valid keys, by the hash of the secret. */
  readonly #remembered = new Map<string, Known>()
  /** Callers without a key. */
  readonly #workspaces = new Map<number | string, Caller>()
  #rememberedAt: number | undefined
  #lookUps = { number: 0, sinceMs: 0 }

  constructor(db: Connection, changes: Changes) {
    this.#db = db
    this.#changes = changes
  }

  /**
   * @param hash - Of the request's secret.
   * @throws {@link OiError} `ERR_API_KEY` if the key is unknown, revoked, blocked or expired, or its
   *   workspace is archived;
   *   `ERR_OVERLOADED` if the accounts cannot be read, and the key is not known or the failure lasts.
   */
  callerOf(hash: string): Caller {
    try {
      this.#refresh()
    } catch (error) {
      return unexpired(this.#evenSo(this.#remembered.get(hash), error))
    }
    let known = this.#remembered.get(hash)
    if (known === undefined) {
      this.#countLookUp()
      known = knownOf(this.#rows('hash = ?', hashBytes(hash))[0])
      this.#remembered.set(hash, known)
    }
    return unexpired(known)
  }

  /**
   * @param find - Reads it.
   * @throws {@link OiError} As {@link callerOf}, and what `find` throws.
   */
  callerOfWorkspace(workspace: number | string, find: () => Workspace): Caller {
    try {
      this.#refresh()
    } catch (error) {
      return this.#evenSo(this.#workspaces.get(workspace), error)
    }
    let caller = this.#workspaces.get(workspace)
    if (caller === undefined) {
      const { id: workspaceId, name, createdMs: workspaceMadeMs, archivedMs } = find()
      const error = archivedError(name, archivedMs)
      if (error !== undefined) throw error
      caller = { keyId: 0, workspaceId, workspace: name, workspaceMadeMs }
      this.#workspaces.set(workspace, caller)
    }
    return caller
  }

  /** What was known before, while the accounts cannot be read: for a bounded time. */
  #evenSo<T>(known: T | undefined, error: unknown): T {
    if (known === undefined || this.#db.failingMs > this.#db.graceMs) throw error
    return known
  }

  /** Forgets what may have changed; or reads it again in one go, where that takes a network's time. */
  #refresh(): void {
    const count = this.#changes.look()
    if (count === this.#rememberedAt && this.#remembered.size < maxRemembered) return
    const hashes = [...this.#remembered.keys()]
    if (this.#db.remote && hashes.length > 0 && hashes.length < maxRemembered) {
      const rows = this.#rows('hash = ANY(?)', hashes.map(hashBytes))
      this.#remembered.clear()
      for (const row of rows) {
        if (whyNot(row) === undefined) this.#remembered.set(hexOf(row.hash), knownOf(row))
      }
    } else this.#remembered.clear()
    this.#workspaces.clear()
    this.#rememberedAt = count
  }

  /** @throws {@link OiError} `ERR_OVERLOADED`: somebody tries keys, from many addresses. */
  #countLookUp(): void {
    if (!this.#db.remote) return
    const now = performance.now()
    if (now - this.#lookUps.sinceMs >= 1000) this.#lookUps = { number: 0, sinceMs: now }
    if (++this.#lookUps.number <= mostLookUps) return
    const message = 'Too many keys that this server has not seen before: try again'
    throw new OiError('ERR_OVERLOADED', message, { retryAfterMs: 1000 })
  }

  #rows(which: 'hash = ?' | 'hash = ANY(?)', value: Buffer | Buffer[]): KeyRow[] {
    // An index may stop at the first byte that differs: timing reveals the hash of the sent secret,
    // which does not lead to a secret with that hash.
    const sql = `SELECT hash, keys.id AS keyId, revoked_ms AS revokedMs, blocked_ms AS blockedMs,
        expires_ms AS expiresMs, models,
        workspaces.id AS workspaceId, workspaces.name AS workspace,
        workspaces.created_ms AS workspaceMadeMs, archived_ms AS archivedMs
      FROM keys JOIN workspaces ON workspaces.id = workspace_id WHERE ${which}`
    return selectAll<KeyRow>(this.#db, sql, value)
  }
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Why a key is refused; undefined: it is not. */
function whyNot(row: KeyRow): OiError | undefined {
  if (row.revokedMs !== null) return keyError('The API key has been revoked')
  if (row.blockedMs !== null) return keyError('The API key is blocked')
  return archivedError(row.workspace, row.archivedMs)
}

/** @throws {@link OiError} `ERR_API_KEY`. */
function knownOf(row: KeyRow | undefined): Known {
  if (row === undefined) throw keyError('The API key is not valid')
  const error = whyNot(row)
  if (error !== undefined) throw error
  const { keyId, workspaceId, workspace, workspaceMadeMs, models } = row
  const caller = {
    ...{ keyId, workspaceId, workspace, workspaceMadeMs },
    ...(models !== null && { models: JSON.parse(models) as string[] }),
  }
  return { caller, expiresMs: row.expiresMs ?? Infinity }
}

interface KeyRow extends Required<Omit<Caller, 'models'>> {
  readonly hash: Uint8Array
  readonly revokedMs: number | null
  readonly blockedMs: number | null
  readonly expiresMs: number | null
  readonly models: string | null
  readonly archivedMs: number | null
}

function archivedError(workspace: string, archivedMs: number | null): OiError | undefined {
  return archivedMs === null ? undefined : keyError(`The workspace ${workspace} is archived`)
}

function unexpired({ caller, expiresMs }: Known): Caller {
  if (expiresMs !== Infinity && expiresMs <= Date.now()) throw keyError('The API key has expired')
  return caller
}
