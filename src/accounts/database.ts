/**
 * The accounts' SQLite file: where it is, who may read it, and its schema.
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
import Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'

/**
 * Pages of the file that are kept in memory. Few are needed again: the last of the ledger and
 * those above it, and the system keeps the others. better-sqlite3's 16 MB would fill with rows
 * that nobody reads, some 50 bytes with every request.
 */
const cacheKib = 512

/** Schema steps: the one at index i leads from version i to i + 1. Never edited, only added to. */
const steps = [
  `CREATE TABLE workspaces (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     name TEXT NOT NULL UNIQUE,
     created_ms INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE keys (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
     name TEXT NOT NULL,
     hash BLOB NOT NULL UNIQUE,
     last_four TEXT NOT NULL,
     created_ms INTEGER NOT NULL,
     used_ms INTEGER,
     revoked_ms INTEGER
   ) STRICT;
   CREATE INDEX keys_of_workspace ON keys (workspace_id);`,

  // Limits: 0 is unlimited. Money: whole millionths of a credit; a balance of NULL is unlimited.
  // Days: whole days since 1970, UTC. What a row of the ledger costs is what its tokens cost; its
  // amount is what it changed the balance by, which is nothing while that is unlimited.
  `ALTER TABLE workspaces ADD COLUMN
     requests_per_minute INTEGER NOT NULL DEFAULT 6000 CHECK (requests_per_minute >= 0);
   ALTER TABLE workspaces ADD COLUMN
     concurrent INTEGER NOT NULL DEFAULT 64 CHECK (concurrent >= 0);
   ALTER TABLE workspaces ADD COLUMN balance INTEGER;
   CREATE TABLE prices (
     model TEXT PRIMARY KEY,
     input INTEGER NOT NULL CHECK (input >= 0),
     output INTEGER NOT NULL CHECK (output >= 0),
     image INTEGER NOT NULL CHECK (image >= 0)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE writers (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     opened_ms INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE ledger (
     writer INTEGER NOT NULL REFERENCES writers (id),
     number INTEGER NOT NULL,
     workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
     time_ms INTEGER NOT NULL,
     kind TEXT NOT NULL CHECK (kind IN ('usage', 'credit', 'unlimited')),
     model TEXT,
     input_tokens INTEGER NOT NULL DEFAULT 0,
     output_tokens INTEGER NOT NULL DEFAULT 0,
     image_tokens INTEGER NOT NULL DEFAULT 0,
     cached_tokens INTEGER NOT NULL DEFAULT 0,
     cost INTEGER NOT NULL DEFAULT 0,
     amount INTEGER NOT NULL,
     PRIMARY KEY (writer, number)
   ) STRICT, WITHOUT ROWID;
   CREATE TRIGGER ledger_keeps_rows BEFORE DELETE ON ledger
     BEGIN SELECT RAISE(ABORT, 'rows of the ledger are never deleted'); END;
   CREATE TRIGGER ledger_keeps_values BEFORE UPDATE ON ledger
     BEGIN SELECT RAISE(ABORT, 'rows of the ledger are never changed'); END;
   CREATE TABLE usage (
     workspace_id INTEGER NOT NULL REFERENCES workspaces (id),
     day INTEGER NOT NULL,
     model TEXT NOT NULL,
     requests INTEGER NOT NULL,
     input_tokens INTEGER NOT NULL,
     output_tokens INTEGER NOT NULL,
     image_tokens INTEGER NOT NULL,
     cached_tokens INTEGER NOT NULL,
     cost INTEGER NOT NULL,
     PRIMARY KEY (workspace_id, day, model)
   ) STRICT, WITHOUT ROWID;`,
]

/**
 * Opens `accounts.db` in the data folder, making both if need be, readable by their owner only.
 *
 * @param busyMs - How long a call may wait for another process' write, milliseconds.
 * @throws {@link OiError} `ERR_ACCOUNTS` if the folder or file cannot be used.
 */
export function openDatabase(dataDir: string, busyMs: number): Sqlite.Database {
  const path = join(dataDir, 'accounts.db')
  let db: Sqlite.Database | undefined
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // SQLite has no mode of its own to give; its -wal and -shm files take over this one's.
    closeSync(openSync(path, 'a', 0o600))
    db = new Sqlite(path, { timeout: busyMs })
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = NORMAL')
    db.pragma('foreign_keys = ON')
    db.pragma(`cache_size = -${cacheKib}`)
    migrate(db, path)
    return db
  } catch (error) {
    db?.close()
    if (error instanceof OiError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new OiError('ERR_ACCOUNTS', `Cannot open the accounts in ${path}: ${why}`, {
      cause: error,
    })
  }
}

function migrate(db: Sqlite.Database, path: string): void {
  // Immediate: of two processes that start at once, the second waits and finds the work done.
  db.transaction(() => {
    const version = db.pragma('user_version', { simple: true }) as number
    if (version > steps.length) {
      throw new OiError(
        'ERR_ACCOUNTS',
        `${path} was written by a newer version of oi (schema ${version}, this one knows ` +
          `${steps.length}): update oi`,
      )
    }
    for (const step of steps.slice(version)) db.exec(step)
    db.pragma(`user_version = ${steps.length}`)
  }).immediate()
}
