/**
 * Workspaces and their keys; their limits, money and usage are parts of their own.
 *
 * Rules
 *   1. A secret is returned once, by the call that made it. Stored is its SHA-256.
 *   2. No message holds a secret.
 *   3. Any method may find the file locked, damaged or gone: it throws `ERR_OVERLOADED` then, and
 *      works again once the file does (connection.ts).
 *
 * @module
 */

import { OiError } from '../errors.js'
import { Changes } from './changes.js'
import { type Compaction, compact, type CompactOptions } from './compaction.js'
import { Connection } from './connection.js'
import { checkConsistency, type Consistency } from './consistency.js'
import { Credits } from './credits.js'
import { hashBytes, hashSecret, newSecret, readSecret } from './keys.js'
import { type Caller, KnownKeys } from './known-keys.js'
import { Ledger } from './ledger.js'
import { Prices } from './prices.js'
import { standardConcurrent } from './schema.js'
import { Terms, termsColumns, type WorkspaceTerms } from './terms.js'
import { type DailyUsage, readUsage } from './usage.js'

export type { Caller } from './known-keys.js'

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
  /**
   * How long a call may wait for another process' write, milliseconds. Default 5,000; 0 where an
   * event loop must not wait. Bookings have a thread of their own, and wait there.
   */
  readonly busyMs?: number
  /** Told what the operator should know: a sentence. */
  readonly log?: (text: string) => void
}

const keyColumns = `keys.id, keys.name, workspaces.name AS workspace, last_four AS lastFour,
  keys.created_ms AS createdMs, used_ms AS usedMs, revoked_ms AS revokedMs`
const workspaceColumns = `id, name, created_ms AS createdMs, ${termsColumns}`
const maxNameLength = 100
const usageDays = 31

export class Accounts {
  readonly ledger: Ledger
  readonly terms: Terms
  readonly credits: Credits
  readonly prices: Prices
  /** Grows when anything may have changed since the last {@link authenticate}. */
  readonly changes: Pick<Changes, 'count'>
  readonly #db: Connection
  readonly #changes: Changes
  readonly #knownKeys: KnownKeys

  /** @throws {@link OiError} `ERR_ACCOUNTS` if the data folder cannot be used, `ERR_OVERLOADED` now. */
  constructor({ dataDir, busyMs = 5000, log = () => {} }: AccountsOptions) {
    const db = (this.#db = new Connection(dataDir, busyMs))
    this.ledger = new Ledger({ dataDir, file: db.file, log, onMoved: () => db.expectReopening() })
    this.changes = this.#changes = new Changes(db, () => this.ledger.writer)
    this.#knownKeys = new KnownKeys(db, this.#changes)
    this.terms = new Terms(db, this.#changes, this.ledger)
    this.credits = new Credits(db, this.#changes)
    this.prices = new Prices(db, this.#changes)
  }

  /**
   * Whose request it is.
   *
   * @param header - The value of `Authorization`.
   * @throws {@link OiError} `ERR_API_KEY` if the key is missing, malformed, unknown or revoked;
   *   `ERR_OVERLOADED` if the file cannot be read, and the key is not known or that lasts.
   */
  authenticate(header: string | undefined): Caller {
    const caller = this.#knownKeys.callerOf(hashSecret(readSecret(header)))
    this.ledger.markUsed(caller.keyId)
    return caller
  }

  /** Why requests are refused or nothing is booked; undefined while all is well. */
  trouble(): string | undefined {
    const unwritten = this.ledger.health.trouble
    if (unwritten !== undefined) return `The accounts cannot be written: ${unwritten}`
    if (this.ledger.full) return 'The accounts cannot be written: too much waits for it'
    try {
      this.#changes.look()
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  /** @throws {@link OiError} `ERR_ACCOUNTS` if the name is taken or unfit. */
  createWorkspace(name: string): Workspace {
    checkName('workspace', name)
    if (this.#findWorkspace(name) !== undefined) {
      throw new OiError('ERR_ACCOUNTS', `There is a workspace "${name}" already`)
    }
    this.#changes.mark()
    return this.#db.use(() =>
      this.#db
        .prepare<[string, number, number], Workspace>(
          `INSERT INTO workspaces (name, created_ms, concurrent) VALUES (?, ?, ?)
           RETURNING ${workspaceColumns}`,
        )
        .get(name, Date.now(), standardConcurrent),
    )!
  }

  /** Oldest first. */
  listWorkspaces(): Workspace[] {
    return this.#db.use(() =>
      this.#db
        .prepare<[], Workspace>(`SELECT ${workspaceColumns} FROM workspaces ORDER BY id`)
        .all(),
    )
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
    return this.#db.read(() => {
      const { id } = this.workspace(name)
      const written =
        this.#db
          .pluck<[number], number>('SELECT written FROM writers WHERE id = ?')
          .get(this.ledger.writer) ?? 0
      const usage = readUsage(this.#db, id, usageDays, this.ledger.pending(written))
      return { workspace: { ...this.workspace(name), ...this.terms.of(id) }, usage }
    })
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
    const { lastInsertRowid } = this.#db.use(() =>
      this.#db
        .prepare(
          `INSERT INTO keys (workspace_id, name, hash, last_four, created_ms)
           VALUES (?, ?, ?, ?, ?)`,
        )
        .run(owner.id, name, hashBytes(hashSecret(secret)), secret.slice(-4), Date.now()),
    )
    this.#changes.mark()
    return { ...this.#getKey(Number(lastInsertRowid))!, secret }
  }

  /**
   * Makes the workspace `default` and a key for it, if there is no workspace at all. Of several
   * processes that start on an empty folder, one does.
   */
  createFirstKey(): NewKey | undefined {
    // Looked at first without a lock, for which a start would have to wait.
    if (this.listWorkspaces().length > 0) return undefined
    return this.#db.write(() => {
      if (this.listWorkspaces().length > 0) return undefined
      this.createWorkspace('default')
      return this.createKey('default', 'first')
    })
  }

  /** Oldest first, revoked ones included. @param workspace - Only this one's keys. */
  listKeys(workspace?: string): Key[] {
    const keys = this.#db.use(() =>
      this.#db
        .prepare<[], Key>(
          `SELECT ${keyColumns} FROM keys JOIN workspaces ON workspaces.id = workspace_id
           ORDER BY keys.id`,
        )
        .all(),
    )
    return workspace === undefined ? keys : keys.filter((key) => key.workspace === workspace)
  }

  /**
   * Refuses a key from now on. Revoking it again changes nothing.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if there is no such key.
   */
  revokeKey(id: number): Key {
    this.#db.use(() =>
      this.#db
        .prepare('UPDATE keys SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL')
        .run(Date.now(), id),
    )
    this.#changes.mark()
    const key = this.#getKey(id)
    if (key === undefined) {
      throw new OiError('ERR_ACCOUNTS', `There is no key ${id}: oi keys list shows them`)
    }
    return key
  }

  /** Whether balances, rows and usage agree; with what this process has booked. */
  check(): Consistency {
    this.ledger.flush()
    return checkConsistency(this.#db)
  }

  /** @see {@link compact} */
  compact(...options: CompactOptions): Compaction {
    return compact(this.#db, ...options)
  }

  /**
   * Writes what is pending and closes the file: at most some seconds. Idempotent.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if usage is lost (ledger.ts); it is closed then too.
   */
  close(): void {
    if (this.#db.closed) return
    try {
      this.ledger.close()
    } finally {
      this.#db.close()
    }
  }

  #findWorkspace(name: string): Workspace | undefined {
    return this.#db.use(() =>
      this.#db
        .prepare<[string], Workspace>(`SELECT ${workspaceColumns} FROM workspaces WHERE name = ?`)
        .get(name),
    )
  }

  #getKey(id: number): Key | undefined {
    return this.#db.use(() =>
      this.#db
        .prepare<[number], Key>(
          `SELECT ${keyColumns} FROM keys JOIN workspaces ON workspaces.id = workspace_id
           WHERE keys.id = ?`,
        )
        .get(id),
    )
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
