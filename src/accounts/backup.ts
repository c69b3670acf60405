/**
 * Copies of the accounts' file: made while a server books, checked, and restored.
 *
 * Rules
 *   1. A copy is the file at one moment: SQLite copies all pages within one transaction, beside
 *      which others read and write (the WAL grows meanwhile). Page by page, each booking in between
 *      would restart the copy.
 *   2. A copy is one file without a WAL, readable by its owner only, and gets its name once it is
 *      complete and on the disk.
 *   3. A copy is checked before it is restored, and replaces the accounts in one transaction:
 *      whenever the process ends, they are either as before or as in the copy. The accounts from
 *      before are kept beside them.
 *
 * @module
 */

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'
import { makeFolder } from '../make-folder.js'
import { SqliteConnection } from './store/sqlite-connection.js'
import { checkConsistency, type Consistency } from './ledger/consistency.js'
import { accountsPath, connect, makeFile } from './store/database.js'
import { isBusy, reasonOf } from './store/store-errors.js'

/** How long a copy waits for other processes at its beginning, milliseconds. */
const busyMs = 5000
/** No notice that older accounts were migrated: the backup keeps them as they were. */
const untold = () => {}
/** More pages than a file has. */
const allPages = 0x7fffffff

interface Backup {
  readonly path: string
  readonly bytes: number
}

/** The result of restoring a copy. */
interface Restoration {
  /** The path of the accounts from before; undefined if there were none. */
  readonly kept: string | undefined
  /** Keys that were revoked after the copy was made: they are valid again. */
  readonly revived: readonly RevivedKey[]
  readonly consistency: Consistency
}

interface RevivedKey {
  readonly id: number
  readonly name: string
}

/** `2026-01-31T12-00-00Z`: sorts by time, and is a valid file name on every system. */
export const timeInName = () =>
  new Date().toISOString().slice(0, 19).replaceAll(':', '-').concat('Z')

/**
 * Copies the accounts, whether or not a server runs.
 *
 * @param target - A file that does not exist yet, in a folder that does; `backups` in the data folder is
 *   made.
 * @throws {@link OiError} `ERR_ACCOUNTS` if there are no accounts, or the copy cannot be written.
 */
export async function backUp(dataDir: string, target: string): Promise<Backup> {
  const source = accountsPath(dataDir)
  if (!existsSync(source)) throw new OiError('ERR_ACCOUNTS', `There are no accounts in ${dataDir}`)
  if (existsSync(target)) throw new OiError('ERR_ACCOUNTS', `${target} exists already`)
  const folder = dirname(target)
  // Another folder that is missing may be that of a disk which is not mounted.
  if (folder === join(dataDir, 'backups')) makeFolder(folder)
  if (!existsSync(folder)) {
    throw new OiError('ERR_ACCOUNTS', `${target}: there is no folder ${folder}`)
  }
  const partial = `${target}.partial`
  try {
    rmSync(partial, { force: true })
    await copy(source, partial)
    sync(partial)
    renameSync(partial, target)
    sync(dirname(target))
    return { path: target, bytes: statSync(target).size }
  } catch (cause) {
    rmSync(partial, { force: true })
    throw new OiError('ERR_ACCOUNTS', `${target} cannot be written: ${reasonOf(cause)}`, { cause })
  }
}

/**
 * Checks that a copy can be restored: opens a temporary copy of it as accounts.
 *
 * @param folder - With room for the temporary copy.
 * @throws {@link OiError} `ERR_ACCOUNTS` if it is no file of accounts, or a newer oi's.
 */
export function checkBackup(path: string, folder: string): Consistency {
  return withCopy(path, folder, (db) => checkConsistency(db))
}

/**
 * Replaces the accounts by a copy.
 *
 * @throws {@link OiError} `ERR_ACCOUNTS` if a process has them open, or the copy cannot be used;
 *   the accounts then stay as they were.
 */
export async function restore(dataDir: string, source: string): Promise<Restoration> {
  if (!existsSync(source)) {
    throw new OiError('ERR_ACCOUNTS', `${source} cannot be used: there is no such file`)
  }
  makeFolder(dataDir)
  const { faults, valid } = withCopy(source, dataDir, (db) => ({
    faults: checkConsistency(db).faults,
    valid: new Set(db.pluck<[], number>('SELECT id FROM keys WHERE revoked_ms IS NULL').all()),
  }))
  if (faults.length > 0) throw new OiError('ERR_ACCOUNTS', `${source}: ${faults.join('; ')}`)

  const path = accountsPath(dataDir)
  const before = existsSync(path) ? takeAside(path) : undefined
  try {
    await copy(source, path)
    sync(path)
  } catch (cause) {
    const message = `The accounts in ${dataDir} cannot be replaced: ${reasonOf(cause)}`
    throw new OiError('ERR_ACCOUNTS', message, { cause })
  }
  const restored = new SqliteConnection(dataDir, busyMs, untold)
  try {
    const revived = before?.revoked.filter(({ id }) => valid.has(id)) ?? []
    return { kept: before?.kept, revived, consistency: checkConsistency(restored) }
  } finally {
    restored.close()
  }
}

/** Rule 1; the copy needs no WAL (rule 2). */
async function copy(source: string, target: string): Promise<void> {
  const from = connect(source, busyMs)
  try {
    if (!existsSync(target)) makeFile(target)
    await from.backup(target, { progress: () => allPages })
  } finally {
    from.close()
  }
  const db = connect(target, busyMs)
  try {
    db.pragma('journal_mode = DELETE')
  } finally {
    db.close()
  }
}

interface Aside {
  readonly kept: string
  readonly revoked: readonly RevivedKey[]
}

/** Keeps the accounts under another name. @throws If a process has them open. */
function takeAside(path: string): Aside {
  const kept = join(dirname(path), `accounts-before-restore-${timeInName()}.db`)
  let revoked: readonly RevivedKey[]
  let db: Sqlite.Database | undefined
  try {
    db = connect(path, 0)
    // The WAL is removed only when no other process has the file open.
    db.pragma('journal_mode = DELETE')
    revoked = db
      .prepare<[], RevivedKey>('SELECT id, name FROM keys WHERE revoked_ms IS NOT NULL ORDER BY id')
      .all()
  } catch (cause) {
    if (isBusy(cause)) {
      throw new OiError(
        'ERR_ACCOUNTS',
        `Another process has the accounts open: stop every server on ${dirname(path)} first`,
        { cause },
      )
    }
    // The file cannot be read, and is moved as it is.
    db?.close()
    for (const ending of ['', '-wal', '-shm']) {
      if (existsSync(path + ending)) renameSync(path + ending, kept + ending)
    }
    return { kept, revoked: [] }
  } finally {
    if (db?.open) db.close()
  }
  copyFileSync(path, kept)
  chmodSync(kept, 0o600)
  return { kept, revoked }
}

function withCopy<T>(path: string, folder: string, use: (db: SqliteConnection) => T): T {
  const temporary = mkdtempSync(join(folder, '.check-'))
  try {
    copyFileSync(path, accountsPath(temporary))
    chmodSync(accountsPath(temporary), 0o600)
    requireAccounts(temporary)
    const db = new SqliteConnection(temporary, busyMs, untold)
    try {
      return use(db)
    } finally {
      db.close()
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = code === 'ENOENT' ? 'there is no such file' : reasonOf(cause)
    const said = reason
      .replaceAll(temporary, dirname(path))
      .replaceAll('accounts.db', basename(path))
    throw new OiError('ERR_ACCOUNTS', `${path} cannot be used: ${said}`, { cause })
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

/** @throws If it is another program's file, which opening would turn into accounts. */
function requireAccounts(folder: string): void {
  const db = connect(accountsPath(folder), busyMs)
  try {
    const tables = db.prepare(
      "SELECT count(*) FROM sqlite_master WHERE name IN ('keys', 'workspaces')",
    )
    if (tables.pluck().get() !== 2) throw new Error('it has no workspaces and keys')
  } finally {
    db.close()
  }
}

/** Forces a file, or a folder's entries, to the disk. */
function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
