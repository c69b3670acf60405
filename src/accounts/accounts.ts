/**
 * Workspaces and their keys; limits, money and usage are in files of their own.
 *
 * Any method may find the file locked, damaged or missing: it then throws `ERR_OVERLOADED`, and
 * works again once the file does (connection.ts).
 *
 * @module
 */

import { AdminAccess } from './admin-access.js'
import { type Actor, Administration } from './administration.js'
import { ApiKeys, type NewKey } from './api-keys.js'
import { Audit } from './audit.js'
import { Changes } from './changes.js'
import { copyAccounts, type CopiedTable } from './copy.js'
import { type Compaction, compact, type CompactOptions } from './ledger/compaction.js'
import { type Connection, isInGrace } from './store/connection.js'
import { PostgresConnection } from './store/postgres/connection.js'
import { SqliteConnection } from './store/sqlite-connection.js'
import { checkConsistency, type Consistency } from './ledger/consistency.js'
import { Credits } from './ledger/credits.js'
import { hashSecret, readSecret } from './keys.js'
import { type Caller, KnownKeys } from './known-keys.js'
import { Ledger } from './ledger/ledger.js'
import { ledgerPage, type LedgerPageQuery } from './ledger/ledger-page.js'
import { Prices } from './ledger/prices.js'
import { RetryKeys } from './ledger/retry-keys.js'
import { realFolder } from './ledger/spool.js'
import { Terms } from './terms.js'
import { unwritten } from './ledger/unwritten.js'
import { type DailyUsage, readUsage } from './ledger/usage.js'
import { queryUsage, type UsageQuery } from './ledger/usage-query.js'
import { type Workspace, Workspaces } from './workspaces.js'

export type { Key, NewKey } from './api-keys.js'
export type { Caller } from './known-keys.js'
export type { Workspace } from './workspaces.js'

/** A workspace and its usage. */
export interface WorkspaceUsage {
  readonly workspace: Workspace
  /** Newest day first. */
  readonly usage: readonly DailyUsage[]
  /** The key that was asked about, and its usage; undefined without one. */
  readonly key?: { readonly name: string; readonly usage: readonly DailyUsage[] } | undefined
}

export interface AccountsOptions {
  /** Of SQLite's file; with `postgres`, of spools alone. */
  readonly dataDir: string
  /** The accounts are there instead: several servers have them in common. */
  readonly postgres?: { readonly url: string; readonly graceMs: number } | undefined
  /**
   * How long a call may wait for another process' write, milliseconds. Default 5,000; 0 on an event
   * loop that must not wait: of PostgreSQL it waits for an answer, at most a second. Bookings have a
   * thread of their own, and wait there.
   */
  readonly busyMs?: number
  /** Takes a sentence for the operator. */
  readonly log?: (text: string) => void
}

const usageDays = 31

export class Accounts {
  readonly ledger: Ledger
  readonly terms: Terms
  readonly workspaces: Workspaces
  readonly credits: Credits
  readonly prices: Prices
  readonly keys: ApiKeys
  readonly retryKeys: RetryKeys
  readonly audit: Audit
  readonly admin: AdminAccess
  /** Grows when anything may have changed since the last {@link authenticate}. */
  readonly changes: Pick<Changes, 'count'>
  /** Whether other servers book on the same balances, and reading takes as long as a network. */
  readonly remote: boolean
  readonly #db: Connection
  readonly #changes: Changes
  readonly #knownKeys: KnownKeys

  /** @throws {@link OiError} `ERR_ACCOUNTS` if they cannot be used, `ERR_OVERLOADED` now. */
  constructor({ dataDir, postgres, busyMs = 5000, log = () => {} }: AccountsOptions) {
    let db: Connection
    if (postgres === undefined) {
      const sqlite = (db = new SqliteConnection(dataDir, busyMs, log))
      const store = { place: { owner: realFolder(dataDir) }, dataDir, file: sqlite.file }
      this.ledger = new Ledger({ store, log, onMoved: () => sqlite.expectReopening() })
    } else {
      const { url, graceMs } = postgres
      const remote = (db = new PostgresConnection({ url, graceMs, serving: busyMs === 0 }))
      const store = { place: { owner: `postgres ${remote.id}`, folder: dataDir }, url }
      this.ledger = new Ledger({ store, graceMs, log })
    }
    this.#db = db
    this.remote = db.remote
    this.changes = this.#changes = new Changes(db, () => this.ledger.writer)
    this.#knownKeys = new KnownKeys(db, this.#changes)
    this.terms = new Terms(db, this.#changes, this.ledger)
    this.workspaces = new Workspaces(db, this.#changes, this.terms)
    this.credits = new Credits(db, this.#changes)
    this.prices = new Prices(db, this.#changes)
    this.keys = new ApiKeys(db, this.#changes)
    this.retryKeys = new RetryKeys(db)
    this.audit = new Audit(db)
    this.admin = new AdminAccess(db)
  }

  /**
   * Identifies the caller of a request.
   *
   * @param header - The value of `Authorization`.
   * @throws {@link OiError} `ERR_API_KEY` if the key is missing, malformed, unknown, revoked,
   *   blocked or expired; `ERR_OVERLOADED` if the file cannot be read, and the key is not known or
   *   the failure lasts.
   */
  authenticate(header: string | undefined): Caller {
    const caller = this.#knownKeys.callerOf(hashSecret(readSecret(header)))
    this.ledger.markUsed(caller.keyId)
    return caller
  }

  /**
   * The caller of a request without a key. @param workspace - Its id or its name.
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such workspace, `ERR_API_KEY` if it is
   *   archived.
   */
  callerOf(workspace: number | string): Caller {
    return this.#knownKeys.callerOfWorkspace(workspace, () => this.workspaces.get(workspace))
  }

  /** Why requests are refused or nothing is booked; undefined if all is well. */
  trouble(): string | undefined {
    const unwritten = this.ledger.health.refusal
    if (unwritten !== undefined) return `The accounts cannot be written: ${unwritten}`
    if (this.ledger.full) return 'The accounts cannot be written: too many bookings are waiting'
    try {
      this.#changes.look()
      return undefined
    } catch (error) {
      // Other nodes would be no better off.
      return this.inGrace ? undefined : (error as Error).message
    }
  }

  /** Whether what was read once will do while it cannot be read: for a time, on a node of several. */
  get inGrace(): boolean {
    return isInGrace(this.#db)
  }

  /** The changes that are recorded with their author. */
  administer(actor: Actor): Administration {
    return new Administration(this, this.#db, actor)
  }

  /**
   * A workspace's limits, budget and balance, and its usage of the last 31 days, today included;
   * with all bookings of this process.
   *
   * @param keyId - One of its keys, whose usage is added.
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such workspace.
   */
  usage(name: string, keyId?: number): WorkspaceUsage {
    return this.#db.read(() => {
      const workspace = this.workspaces.get(name)
      const read = (whose: 'workspaceId' | 'keyId', id: number) =>
        readUsage(this.#db, whose, id, usageDays, this.#pending())
      const usage = read('workspaceId', workspace.id)
      if (keyId === undefined) return { workspace, usage }
      const { name: keyName } = this.keys.get(keyId)
      return { workspace, usage, key: { name: keyName, usage: read('keyId', keyId) } }
    })
  }

  /** Usage per hour or day, as {@link queryUsage}. */
  usageOver(query: UsageQuery) {
    return this.#db.read(() => queryUsage(this.#db, query, this.#pending()))
  }

  ledgerPage(query: LedgerPageQuery) {
    return this.#db.read(() => ledgerPage(this.#db, query))
  }

  /**
   * Creates a key. Its secret is only in this result.
   *
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such workspace, `ERR_ACCOUNTS` if the
   *   name is invalid.
   */
  createKey(workspace: string, name: string): NewKey {
    const { id } = this.workspaces.get(workspace)
    return this.keys.create(id, { name, expiresMs: null, models: null })
  }

  /**
   * Creates the workspace `default` and a key for it, if there is no workspace at all. If several
   * processes start on an empty folder, one of them does.
   */
  createFirstKey(): NewKey | undefined {
    // Checked first without a lock, for which a start would have to wait.
    if (this.workspaces.list().length > 0) return undefined
    return this.#db.write(() => {
      if (this.workspaces.list().length > 0) return undefined
      const first = this.administer({ kind: 'server', detail: 'first start' })
      const { id } = first.createWorkspace({ name: 'default' })
      return first.createKey(id, { name: 'first', expiresMs: null, models: null })
    })
  }

  /** Whether balances, rows and usage agree; with this process' bookings. */
  check(): Consistency {
    this.ledger.flush()
    return checkConsistency(this.#db)
  }

  compact(...options: CompactOptions): Compaction {
    return compact(this.#db, ...options)
  }

  /** As {@link copyAccounts}; with this process' bookings. */
  copyTo(other: Accounts): readonly CopiedTable[] {
    this.ledger.flush()
    const copied = copyAccounts(this.#db, other.#db)
    other.#changes.mark()
    return copied
  }

  /**
   * Writes what is pending and closes the file, within some seconds. Idempotent.
   *
   * @throws {@link OiError} `ERR_ACCOUNTS` if usage is lost (ledger.ts); the file is closed all the
   *   same.
   */
  close(): void {
    if (this.#db.closed) return
    try {
      this.ledger.close()
    } finally {
      this.#db.close()
    }
  }

  /** Within a transaction. */
  #pending() {
    return unwritten(this.#db, this.ledger)
  }
}
