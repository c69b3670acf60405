/**
 * Finds the caller of a key.
 *
 * A revoked key is refused from the next request on, in every process on the same data folder. Keys
 * that were looked up are remembered only until something changes, and every request asks SQLite
 * about that: it costs a third of a look-up. While SQLite cannot tell, remembered keys are accepted
 * for a bounded time.
 *
 * @module
 */

import type { Changes } from './changes.js'
import type { Connection } from './store/connection.js'
import { hashBytes, keyError } from './keys.js'

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
/** How long remembered keys are accepted while the file cannot be read. */
const mostStaleMs = 30_000

export class KnownKeys {
  readonly #db: Connection
  readonly #changes: Changes
  /** Valid keys, by the hash of the secret. */
  readonly #remembered = new Map<string, Known>()
  #rememberedAt: number | undefined

  constructor(db: Connection, changes: Changes) {
    this.#db = db
    this.#changes = changes
  }

  /**
   * @param hash - Of the request's secret.
   * @throws {@link OiError} `ERR_API_KEY` if the key is unknown, revoked, blocked or expired, or its
   *   workspace is archived;
   *   `ERR_OVERLOADED` if the file cannot be read, and the key is not known or the failure lasts.
   */
  callerOf(hash: string): Caller {
    try {
      const count = this.#changes.look()
      if (count !== this.#rememberedAt || this.#remembered.size >= maxRemembered) {
        this.#remembered.clear()
        this.#rememberedAt = count
      }
    } catch (error) {
      const known = this.#remembered.get(hash)
      if (known === undefined || this.#db.failingMs > mostStaleMs) throw error
      return unexpired(known)
    }
    let known = this.#remembered.get(hash)
    if (known === undefined) {
      known = this.#lookUp(hash)
      this.#remembered.set(hash, known)
    }
    return unexpired(known)
  }

  #lookUp(hash: string): Known {
    // An index may stop at the first byte that differs: timing reveals the hash of the sent secret,
    // which does not lead to a secret with that hash.
    const row = this.#db.use(() =>
      this.#db
        .prepare<[Buffer], KeyRow>(
          `SELECT keys.id AS keyId, revoked_ms AS revokedMs, blocked_ms AS blockedMs,
                  expires_ms AS expiresMs, models,
                  workspaces.id AS workspaceId, workspaces.name AS workspace,
                  workspaces.created_ms AS workspaceMadeMs, archived_ms AS archivedMs
           FROM keys JOIN workspaces ON workspaces.id = workspace_id WHERE hash = ?`,
        )
        .get(hashBytes(hash)),
    )
    if (row === undefined) throw keyError('The API key is not valid')
    const { keyId, workspaceId, workspace, workspaceMadeMs, models } = row
    if (row.revokedMs !== null) throw keyError('The API key has been revoked')
    if (row.blockedMs !== null) throw keyError('The API key is blocked')
    requireInUse(workspace, row.archivedMs)
    const caller = {
      ...{ keyId, workspaceId, workspace, workspaceMadeMs },
      ...(models !== null && { models: JSON.parse(models) as string[] }),
    }
    return { caller, expiresMs: row.expiresMs ?? Infinity }
  }
}

interface KeyRow extends Required<Omit<Caller, 'models'>> {
  readonly revokedMs: number | null
  readonly blockedMs: number | null
  readonly expiresMs: number | null
  readonly models: string | null
  readonly archivedMs: number | null
}

/** @throws {@link OiError} `ERR_API_KEY` if the workspace is archived. */
export function requireInUse(workspace: string, archivedMs: number | null): void {
  if (archivedMs !== null) throw keyError(`The workspace ${workspace} is archived`)
}

function unexpired({ caller, expiresMs }: Known): Caller {
  if (expiresMs !== Infinity && expiresMs <= Date.now()) throw keyError('The API key has expired')
  return caller
}
