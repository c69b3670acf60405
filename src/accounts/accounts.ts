/**
 * Workspaces and their keys; their limits, money and usage are parts of their own.
 *
 * Rules
 *   1. A secret is returned once, by the call that made it. Stored is its SHA-256.
 *   2. A revoked key is refused from the next request on, in every process on the same data
 *      folder. Keys that were looked up are remembered only while the file is unchanged, and
 *      every request asks SQLite whether it is: that costs a third of a look-up.
 *   3. No method logs, and no message holds a secret.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'
import { Changes } from './changes.js'
import { Credits } from './credits.js'
import { openDatabase } from './database.js'
import { hashBytes, hashSecret, keyError, newSecret, readSecret } from './keys.js'
import { LastUsed } from './last-used.js'
import { Ledger } from './ledger.js'
import { Prices } from './prices.js'
import { Terms, termsColumns, type WorkspaceTerms } from './terms.js'
import { type DailyUsage, readUsage } from './usage.js'

/** Whom a request belongs to. */
export interface Caller {
  readonly keyId: number
  readonly workspaceId: number
  readonly workspace: string
}

export interface Workspace extends WorkspaceTerms {
  readonly id: number
  readonly name: string
  readonly createdMs: number
}

/** A workspace and what it has used. */
export interface WorkspaceUsage {
  readonly workspace: Workspace
  /** Newest day first. */
  readonly usage: readonly DailyUsage[]
}

/** A key as it may be shown. Times are milliseconds since 1970, UTC. */
export interface Key {
  readonly id: number
  readonly name: string
  readonly workspace: string
  /** The last four characters of the secret. */
  readonly lastFour: string
  readonly createdMs: number
  readonly usedMs: number | null
  readonly revokedMs: number | null
}

/** A key and, this once, its secret. */
export interface NewKey extends Key {
  readonly secret: string
}

export interface AccountsOptions {
  readonly dataDir: string
  /** How long a call may wait for another process' write. Default 5,000. */
  readonly busyMs?: number
}

const keyColumns = `keys.id, keys.name, workspaces.name AS workspace, last_four AS lastFour,
  keys.created_ms AS createdMs, used_ms AS usedMs, revoked_ms AS revokedMs`
const workspaceColumns = `id, name, created_ms AS createdMs, ${termsColumns}`
const maxNameLength = 100
const usageDays = 31
/** Beyond it, all are forgotten: a bound on memory and not a cache's size to be tuned. */
const maxRemembered = 10_000

export class Accounts {
  readonly ledger: Ledger
  readonly terms: Terms
  readonly credits: Credits
  readonly prices: Prices
  /** Grows when anything may have changed since the last {@link authenticate}. */
  readonly changes: Pick<Changes, 'count'>
  readonly #db: Sqlite.Database
  readonly #changes: Changes
  readonly #lastUsed: LastUsed
  readonly #byHash: Sqlite.Statement<[Buffer], Caller & { revokedMs: number | null }>
  /** Valid keys (rule 2), by {@link hashSecret}. */
  readonly #remembered = new Map<string, Caller>()
  #rememberedAt: number | undefined

  /** @throws {@link OiError} `ERR_ACCOUNTS` if the data folder cannot be used. */
  constructor({ dataDir, busyMs = 5000 }: AccountsOptions) {
    this.#db = openDatabase(dataDir, busyMs)
    this.changes = this.#changes = new Changes(this.#db)
    this.ledger = new Ledger(this.#db)
    this.terms = new Terms(this.#db, this.#changes, this.ledger)
    this.credits = new Credits(this.#db, this.#changes)
    this.prices = new Prices(this.#db, this.#changes)
    this.#lastUsed = new LastUsed(this.#db)
    this.#byHash = this.#db.prepare(
      `SELECT keys.id AS keyId, revoked_ms AS revokedMs,
              workspaces.id AS workspaceId, workspaces.name AS workspace
       FROM keys JOIN workspaces ON workspaces.id = workspace_id WHERE hash = ?`,
    )
  }

  /**
   * Whose request it is.
   *
   * @param header - The value of `Authorization`.
   * @throws {@link OiError} `ERR_API_KEY` if the key is missing, malformed, unknown or revoked.
   */
  authenticate(header: string | undefined): Caller {
    const hash = hashSecret(readSecret(header))
    const count = this.#changes.look()
    if (count !== this.#rememberedAt || this.#remembered.size >= maxRemembered) {
      this.#remembered.clear()
      this.#rememberedAt = count
    }
    let caller = this.#remembered.get(hash)
    if (caller === undefined) {
      caller = this.#lookUp(hash)
      this.#remembered.set(hash, caller)
    }
    this.#lastUsed.mark(caller.keyId)
    return caller
  }

  /** @throws {@link OiError} `ERR_ACCOUNTS` if the name is taken or unfit. */
  createWorkspace(name: string): Workspace {
    checkName('workspace', name)
    if (this.#findWorkspace(name) !== undefined) {
      throw new OiError('ERR_ACCOUNTS', `There is a workspace "${name}" already`)
    }
    return this.#db
      .prepare<[string, number], Workspace>(
        `INSERT INTO workspaces (name, created_ms) VALUES (?, ?) RETURNING ${workspaceColumns}`,
      )
      .get(name, Date.now())!
  }

  /** Oldest first. */
  listWorkspaces(): Workspace[] {
    return this.#db
      .prepare<[], Workspace>(`SELECT ${workspaceColumns} FROM workspaces ORDER BY id`)
      .all()
  }

  /** @throws {@link OiError} `ERR_ACCOUNTS` if there is no such workspace. */
  workspace(name: string): Workspace {
    const workspace = this.#findWorkspace(name)
    if (workspace !== undefined) return workspace
    throw new OiError(
      'ERR_ACCOUNTS',
      `There is no workspace "${name}": oi workspaces create ${name}`,
    )
  }

  /**
   * A workspace's limits and balance, and what it has used in the last 31 days, today included;
   * with everything that has been booked here.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if there is no such workspace.
   */
  usage(name: string): WorkspaceUsage {
    this.ledger.flush()
    const workspace = this.workspace(name)
    return { workspace, usage: readUsage(this.#db, workspace.id, usageDays) }
  }

  /**
   * Makes a key. The secret in the result is shown now or never.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if there is no such workspace or the name is unfit.
   */
  createKey(workspace: string, name: string): NewKey {
    checkName('key', name)
    const owner = this.workspace(workspace)
    const secret = newSecret()
    const { lastInsertRowid } = this.#db
      .prepare(
        `INSERT INTO keys (workspace_id, name, hash, last_four, created_ms) VALUES (?, ?, ?, ?, ?)`,
      )
      .run(owner.id, name, hashBytes(hashSecret(secret)), secret.slice(-4), Date.now())
    return { ...this.#getKey(Number(lastInsertRowid))!, secret }
  }

  /**
   * Makes the workspace `default` and a key for it, if there is no workspace at all. Of several
   * processes that start on an empty folder, one does.
   */
  createFirstKey(): NewKey | undefined {
    return this.#db
      .transaction(() => {
        if (this.listWorkspaces().length > 0) return undefined
        this.createWorkspace('default')
        return this.createKey('default', 'first')
      })
      .immediate()
  }

  /** Oldest first, revoked ones included. @param workspace - Only this one's keys. */
  listKeys(workspace?: string): Key[] {
    const keys = this.#db
      .prepare<[], Key>(
        `SELECT ${keyColumns} FROM keys JOIN workspaces ON workspaces.id = workspace_id
         ORDER BY keys.id`,
      )
      .all()
    return workspace === undefined ? keys : keys.filter((key) => key.workspace === workspace)
  }

  /**
   * Refuses a key from now on. Revoking it again changes nothing.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if there is no such key.
   */
  revokeKey(id: number): Key {
    this.#db
      .prepare('UPDATE keys SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL')
      .run(Date.now(), id)
    this.#changes.mark()
    const key = this.#getKey(id)
    if (key === undefined) {
      throw new OiError('ERR_ACCOUNTS', `There is no key ${id}: oi keys list shows them`)
    }
    return key
  }

  /**
   * Writes what is pending and closes the file. Idempotent.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if usage could not be written; it is closed then too.
   */
  close(): void {
    if (!this.#db.open) return
    this.#lastUsed.flush()
    try {
      this.ledger.close()
    } finally {
      this.#db.close()
    }
  }

  #lookUp(hash: string): Caller {
    // An index may stop at the first byte that differs: timing tells about the hash of what was
    // sent, from which nobody gets to a secret that has it.
    const row = this.#byHash.get(hashBytes(hash))
    if (row === undefined) throw keyError('The API key is not valid')
    if (row.revokedMs !== null) throw keyError('The API key has been revoked')
    return { keyId: row.keyId, workspaceId: row.workspaceId, workspace: row.workspace }
  }

  #findWorkspace(name: string): Workspace | undefined {
    return this.#db
      .prepare<[string], Workspace>(`SELECT ${workspaceColumns} FROM workspaces WHERE name = ?`)
      .get(name)
  }

  #getKey(id: number): Key | undefined {
    return this.#db
      .prepare<[number], Key>(
        `SELECT ${keyColumns} FROM keys JOIN workspaces ON workspaces.id = workspace_id
         WHERE keys.id = ?`,
      )
      .get(id)
  }
}

/** Names are shown in tables and logs: printable, and short. */
function checkName(what: string, name: string): void {
  if (name === '' || name.length > maxNameLength || /\p{C}/u.test(name)) {
    throw new OiError(
      'ERR_ACCOUNTS',
      `A ${what}'s name has 1 to ${maxNameLength} printable characters`,
    )
  }
}
