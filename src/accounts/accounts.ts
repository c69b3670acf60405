/**
 * Workspaces and their keys; limits, money and usage are in files of their own.
 *
 * Any method may find the file locked, damaged or missing: it then throws `ERR_OVERLOADED`, and
 * works again once the file does (connection.ts).
 *
 * @module
 */

import { shellArgument } from '../api/words.js'
import { OiError } from '../errors.js'
import { AdminAccess } from './admin-access.js'
import { type Actor, Administration } from './administration.js'
import { ApiKeys, type Key, type NewKey } from './api-keys.js'
import { Audit } from './audit.js'
import { Changes } from './changes.js'
import { type Compaction, compact, type CompactOptions } from './ledger/compaction.js'
import { Connection } from './store/connection.js'
import { checkConsistency, type Consistency } from './ledger/consistency.js'
import { Credits } from './ledger/credits.js'
import { hashSecret, readSecret } from './keys.js'
import { type Caller, KnownKeys } from './known-keys.js'
import { Ledger } from './ledger/ledger.js'
import { ledgerPage, type LedgerPageQuery } from './ledger/ledger-page.js'
import { checkName } from './names.js'
import { Prices } from './ledger/prices.js'
import { RetryKeys } from './ledger/retry-keys.js'
import { standardConcurrent } from './store/schema.js'
import { Terms, termsColumns, type TermsRow, type WorkspaceTerms } from './terms.js'
import { unwritten } from './ledger/unwritten.js'
import { type DailyUsage, readKeyUsage, readUsage } from './ledger/usage.js'
import { queryUsage, type UsageQuery } from './ledger/usage-query.js'

export type { Key, NewKey } from './api-keys.js'
export type { Caller } from './known-keys.js'

export interface Workspace extends WorkspaceTerms {
  readonly id: number
  readonly name: string
  readonly createdMs: number
}

/** A workspace and its usage. */
export interface WorkspaceUsage {
  readonly workspace: Workspace
  /** Newest day first. */
  readonly usage: readonly DailyUsage[]
  /** The key that was asked about, and its usage; undefined without one. */
  readonly key?: { readonly name: string; readonly usage: readonly DailyUsage[] } | undefined
}

interface AccountsOptions {
  readonly dataDir: string
  /**
   * How long a call may wait for another process' write, milliseconds. Default 5,000; 0 on an event
   * loop that must not wait. Bookings have a thread of their own, and wait there.
   */
  readonly busyMs?: number
  /** Takes a sentence for the operator. */
  readonly log?: (text: string) => void
}

type WorkspaceRow = TermsRow & Pick<Workspace, 'name' | 'createdMs'>

const workspaceColumns = `id, name, created_ms AS createdMs, ${termsColumns}`
const usageDays = 31

export class Accounts {
  readonly ledger: Ledger
  readonly terms: Terms
  readonly credits: Credits
  readonly prices: Prices
  readonly keys: ApiKeys
  readonly retryKeys: RetryKeys
  readonly audit: Audit
  readonly admin: AdminAccess
  /** Grows when anything may have changed since the last {@link authenticate}. */
  readonly changes: Pick<Changes, 'count'>
  readonly #db: Connection
  readonly #changes: Changes
  readonly #knownKeys: KnownKeys

  /** @throws {@link OiError} `ERR_ACCOUNTS` if the data folder cannot be used, `ERR_OVERLOADED` now. */
  constructor({ dataDir, busyMs = 5000, log = () => {} }: AccountsOptions) {
    const db = (this.#db = new Connection(dataDir, busyMs, log))
    this.ledger = new Ledger({ dataDir, file: db.file, log, onMoved: () => db.expectReopening() })
    this.changes = this.#changes = new Changes(db, () => this.ledger.writer)
    this.#knownKeys = new KnownKeys(db, this.#changes)
    this.terms = new Terms(db, this.#changes, this.ledger)
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
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such workspace.
   */
  callerOf(workspace: number | string): Caller {
    this.#changes.look()
    const { id: workspaceId, name, createdMs: workspaceMadeMs } = this.workspace(workspace)
    return { keyId: 0, workspaceId, workspace: name, workspaceMadeMs }
  }

  /** Why requests are refused or nothing is booked; undefined if all is well. */
  trouble(): string | undefined {
    const unwritten = this.ledger.health.trouble
    if (unwritten !== undefined) return `The accounts cannot be written: ${unwritten}`
    if (this.ledger.full) return 'The accounts cannot be written: too many bookings are waiting'
    try {
      this.#changes.look()
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }

  /** The changes that are recorded with their author. */
  administer(actor: Actor): Administration {
    return new Administration(this, this.#db, actor)
  }

  /**
   * @throws {@link OiError} `ERR_CONFLICT` if the name is taken, `ERR_ACCOUNTS` if it is invalid.
   */
  createWorkspace(name: string): Workspace {
    this.#requireFree(name)
    this.#changes.mark()
    this.#db.use(() =>
      this.#db
        .prepare('INSERT INTO workspaces (name, created_ms, concurrent) VALUES (?, ?, ?)')
        .run(name, Date.now(), standardConcurrent),
    )
    return this.workspace(name)
  }

  /** @throws {@link OiError} As {@link createWorkspace}. @param id - Of an existing workspace. */
  renameWorkspace(id: number, name: string): void {
    this.#requireFree(name, id)
    this.#db.use(() =>
      this.#db.prepare('UPDATE workspaces SET name = ? WHERE id = ?').run(name, id),
    )
    this.#changes.mark()
  }

  /** Oldest first. */
  listWorkspaces(): Workspace[] {
    return this.#db.read(() =>
      this.#db
        .prepare<[], WorkspaceRow>(`SELECT ${workspaceColumns} FROM workspaces ORDER BY id`)
        .all()
        .map((row) => this.#workspaceOf(row)),
    )
  }

  /**
   * @param name - Its name, or its id.
   * @throws {@link OiError} `ERR_NOT_FOUND` if there is no such workspace.
   */
  workspace(name: string | number): Workspace {
    const workspace = this.#findWorkspace(name)
    if (workspace !== undefined) return workspace
    const remedy = typeof name === 'string' ? `: oi workspaces create ${shellArgument(name)}` : ''
    throw new OiError('ERR_NOT_FOUND', `There is no workspace ${JSON.stringify(name)}${remedy}`)
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
      const workspace = this.workspace(name)
      const pending = () => this.#pending()
      const usage = readUsage(this.#db, workspace.id, usageDays, pending())
      if (keyId === undefined) return { workspace, usage }
      const { name: keyName } = this.keys.get(keyId)
      const used = readKeyUsage(this.#db, keyId, usageDays, pending())
      return { workspace, usage, key: { name: keyName, usage: used } }
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
    const { id } = this.workspace(workspace)
    return this.keys.create(id, { name, expiresMs: null, models: null })
  }

  /**
   * Creates the workspace `default` and a key for it, if there is no workspace at all. If several
   * processes start on an empty folder, one of them does.
   */
  createFirstKey(): NewKey | undefined {
    // Checked first without a lock, for which a start would have to wait.
    if (this.listWorkspaces().length > 0) return undefined
    return this.#db.write(() => {
      if (this.listWorkspaces().length > 0) return undefined
      const first = this.administer({ kind: 'server', detail: 'first start' })
      const { id } = first.createWorkspace({ name: 'default' })
      return first.createKey(id, { name: 'first', expiresMs: null, models: null })
    })
  }

  /** Oldest first, revoked ones included. @param workspace - Only this one's keys. */
  listKeys(workspace?: string): Key[] {
    const keys = this.keys.list()
    return workspace === undefined ? keys : keys.filter((key) => key.workspace === workspace)
  }

  /** Whether balances, rows and usage agree; with this process' bookings. */
  check(): Consistency {
    this.ledger.flush()
    return checkConsistency(this.#db)
  }

  compact(...options: CompactOptions): Compaction {
    return compact(this.#db, ...options)
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

  #findWorkspace(name: string | number): Workspace | undefined {
    const by = typeof name === 'string' ? 'name' : 'id'
    return this.#db.read(() => {
      const row = this.#db
        .prepare<[string | number], WorkspaceRow>(
          `SELECT ${workspaceColumns} FROM workspaces WHERE ${by} = ?`,
        )
        .get(name)
      return row && this.#workspaceOf(row)
    })
  }

  #workspaceOf(row: WorkspaceRow): Workspace {
    const { id, name, createdMs } = row
    return { id, name, createdMs, ...this.terms.from(row) }
  }

  /** @param id - The workspace that may have the name already. */
  #requireFree(name: string, id?: number): void {
    checkName('workspace', name)
    const taken = this.#findWorkspace(name)
    if (taken === undefined || taken.id === id) return
    throw new OiError('ERR_CONFLICT', `There is a workspace "${name}" already`)
  }

  /** Within a transaction. */
  #pending() {
    return unwritten(this.#db, this.ledger)
  }
}
