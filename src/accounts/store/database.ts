/**
 * The accounts' SQLite file: its path, its permissions, its settings.
 *
 * Several processes share one file. WAL lets them read while one of them writes; a write waits
 * for another process' write at most `busyMs`.
 *
 * A committed transaction survives any end of the process: with `synchronous = NORMAL` it is with
 * the operating system by then. When the machine loses power, the last transactions may be lost,
 * whole and from the end, as they are forced to the disk only at a checkpoint of the WAL; FULL
 * would force each, at the cost of a disk write per group of bookings.
 *
 * @module
 */

import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { OiError } from '../../errors.js'
import { makeFolder } from '../../make-folder.js'
import { migrate } from './schema.js'
import { sqlite } from './sqlite.js'
import { isDamage, isPassing, reasonOf, unavailable } from './store-errors.js'

/**
 * SQLite's page cache. Few pages are needed again: the last of the ledger and those above it, and
 * the system caches the others. better-sqlite3's 16 MB would fill with rows that nobody reads, some
 * 50 bytes with every request.
 */
const cacheKib = 512

/**
 * The WAL is cut to this size after a checkpoint, bytes. SQLite makes one each 1,000 pages, 4 MB,
 * unless a reader takes long.
 */
export const walBytesKept = 8 * 1024 * 1024

/** How long opening may wait for another process' write, milliseconds. */
const openingMs = 5000

/** The path of a data folder's accounts. */
export function accountsPath(dataDir: string): string {
  return join(dataDir, 'accounts.db')
}

/**
 * Opens `accounts.db` in the data folder; creates both if needed, readable by their owner only. The
 * folder's parent must be there.
 *
 * @param busyMs - How long a call may wait for another process' write, milliseconds; opening
 *   itself waits five seconds.
 * @param log - Takes a sentence for the operator.
 * @throws {@link OiError} `ERR_CONFIG` if the folder has no parent; `ERR_ACCOUNTS` if the folder or
 *   file cannot be used; `ERR_OVERLOADED` if it is locked or the disk is full.
 */
export function openDatabase(
  dataDir: string,
  busyMs: number,
  log: (text: string) => void,
): Sqlite.Database {
  const path = accountsPath(dataDir)
  let db: Sqlite.Database | undefined
  try {
    makeFolder(dataDir)
    makeFile(path)
    db = connect(path, openingMs)
    db.pragma('journal_mode = WAL')
    const copy = migrate(db, path)
    if (copy !== undefined) log(`The accounts have a newer form now; a copy of the old is ${copy}`)
    db.pragma(`busy_timeout = ${busyMs}`)
    return db
  } catch (error) {
    db?.close()
    throw cannotOpen(path, error)
  }
}

/**
 * Reads all of an existing file: one that is damaged further inside opens, and would fail later.
 *
 * @throws {@link OiError} As {@link openDatabase}.
 */
export function requireWhole(dataDir: string): void {
  const path = accountsPath(dataDir)
  if (!existsSync(path)) return
  let db: Sqlite.Database | undefined
  try {
    db = connect(path, openingMs)
    const found = db.pragma('quick_check(1)', { simple: true })
    if (found !== 'ok') {
      const where = String(found).split('\n').at(-1)!
      throw new (sqlite().SqliteError)(where, 'SQLITE_CORRUPT')
    }
  } catch (error) {
    throw cannotOpen(path, error)
  } finally {
    db?.close()
  }
}

function cannotOpen(path: string, error: unknown): OiError {
  if (error instanceof OiError) return error
  if (isPassing(error)) return unavailable('opened', error)
  const remedy = isDamage(error) ? '; oi admin restore <file> puts a copy in its place' : ''
  const message = `Cannot open the accounts in ${path}: ${reasonOf(error)}${remedy}`
  return new OiError('ERR_ACCOUNTS', message, { cause: error })
}

/**
 * Opens a file that {@link openDatabase} has opened before, and never creates one: if the file has
 * gone, a new one would be empty.
 *
 * @throws {@link Sqlite.SqliteError} If it cannot be opened.
 */
export function connect(path: string, busyMs: number): Sqlite.Database {
  const db = new (sqlite())(path, { timeout: busyMs, fileMustExist: true })
  try {
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    db.pragma(`cache_size = -${cacheKib}`)
    db.pragma(`journal_size_limit = ${walBytesKept}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Creates the file with its mode, which SQLite cannot set; its -wal and -shm files inherit it. An
 * existing file is not opened: closing it again would drop the locks of this process' other
 * connections.
 */
export function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
