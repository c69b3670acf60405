/**
 * Whose key it is.
 *
 * A revoked key is refused from the next request on, in every process on the same data folder.
 * Keys that were looked up are remembered only while nobody has changed anything, and every
 * request asks SQLite whether that is so: it costs a third of a look-up. While SQLite cannot say,
 * they are believed for a bounded time.
 *
 * @module
 */

import type { Changes } from './changes.js'
import type { Connection } from './connection.js'
import { hashBytes, keyError } from './keys.js'

/** Whom a request belongs to. */
export interface Caller {
  readonly keyId: number
  readonly workspaceId: number
  readonly workspace: string
}

/** Beyond it, all are forgotten: a bound on memory and not a cache's size to be tuned. */
const maxRemembered = 10_000
/** How long keys are believed while the file cannot be read. */
const mostStaleMs = 30_000

export class KnownKeys {
  readonly #db: Connection
  readonly #changes: Changes
  /** Valid ones, by the hash of the secret. */
  readonly #remembered = new Map<string, Caller>()
  #rememberedAt: number | undefined

  constructor(db: Connection, changes: Changes) {
    this.#db = db
    this.#changes = changes
  }

  /**
   * @param hash - Of the secret that was sent.
   * @throws {@link OiError} `ERR_API_KEY` if it is unknown or revoked; `ERR_OVERLOADED` if the file
   *   cannot be read, and the key is not known or that lasts.
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
      return known
    }
    let caller = this.#remembered.get(hash)
    if (caller === undefined) {
      caller = this.#lookUp(hash)
      this.#remembered.set(hash, caller)
    }
    return caller
  }

  #lookUp(hash: string): Caller {
    // An index may stop at the first byte that differs: timing tells about the hash of what was
    // sent, from which nobody gets to a secret that has it.
    const row = this.#db.use(() =>
      this.#db
        .prepare<[Buffer], Caller & { revokedMs: number | null }>(
          `SELECT keys.id AS keyId, revoked_ms AS revokedMs,
                  workspaces.id AS workspaceId, workspaces.name AS workspace
           FROM keys JOIN workspaces ON workspaces.id = workspace_id WHERE hash = ?`,
        )
        .get(hashBytes(hash)),
    )
    if (row === undefined) throw keyError('The API key is not valid')
    if (row.revokedMs !== null) throw keyError('The API key has been revoked')
    return { keyId: row.keyId, workspaceId: row.workspaceId, workspace: row.workspace }
  }
}
