/**
 * The accounts' SQLite file: where it is, who may read it, and how it is kept.
 *
 * Several processes share one file. WAL lets them read while one of them writes; a write waits
 * for another process' write at most `busyMs`.
 *
 * A transaction that has been committed survives the end of the process, however it ends: with
 * `synchronous = NORMAL` it is in the system's hands by then. When the machine loses power, the
 * last ones may be lost, whole and from the end, as they are forced to the disk only when the
 * WAL is folded into the file; FULL would force each, at the price of a disk's write per group of
 * bookings.
 *
 * @module
 */

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'
import { migrate } from './schema.js'
import { sqlite } from './sqlite.js'
import { isPassing, reasonOf, unavailable } from './store-errors.js'

/**
 * Pages of the file that are kept in memory. Few are needed again: the last of the ledger and
 * those above it, and the system keeps the others. better-sqlite3's 16 MB would fill with rows
 * that nobody reads, some 50 bytes with every request.
 */
const cacheKib = 512

/**
 * The log (WAL) is cut to this size once it has been folded into the file, bytes. SQLite folds it
 * each 1,000 pages, 4 MB, unless somebody reads for long.
 */
export const walBytesKept = 8 * 1024 * 1024

/** How long opening may wait for another process' write, milliseconds. */
const openingMs = 5000

/** Where the accounts of a data folder are. */
export function accountsPath(dataDir: string): string {
  return join(dataDir, 'accounts.db')
}

/**
 * Opens `accounts.db` in the data folder, making both if need be, readable by their owner only.
 *
 * @param busyMs - How long a call may wait for another process' write, milliseconds; opening
 *   itself waits five seconds.
 * @param log - Told what the operator should know: a sentence.
 * @throws {@link OiError} `ERR_ACCOUNTS` if the folder or file cannot be used; `ERR_OVERLOADED` if
 *   it is locked or the disk is full.
 */
export function openDatabase(
  dataDir: string,
  busyMs: number,
  log: (text: string) => void,
): Sqlite.Database {
  const path = accountsPath(dataDir)
  let db: Sqlite.Database | undefined
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    makeFile(path)
    db = connect(path, openingMs)
    db.pragma('journal_mode = WAL')
    const copy = migrate(db, path)
    if (copy !== undefined) log(`The accounts have a newer form now; a copy of the old is ${copy}`)
    db.pragma(`busy_timeout = ${busyMs}`)
    return db
  } catch (error) {
    db?.close()
    if (error instanceof OiError) throw error
    if (isPassing(error)) throw unavailable('opened', error)
    throw new OiError('ERR_ACCOUNTS', `Cannot open the accounts in ${path}: ${reasonOf(error)}`, {
      cause: error,
    })
  }
}

/**
 * Opens a file that {@link openDatabase} has opened before, and never makes one: where it has
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
 * SQLite has no mode of its own to give; its -wal and -shm files take over this one's. A file
 * that is there is not opened: to close it again would drop the locks that other connections of
 * this process have on it.
 */
function makeFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
