/**
 * The accounts' SQLite file: where it is, who may read it, and its schema.
 *
 * Several processes share one file. WAL lets them read while one of them writes; a write waits
 * for another process' write at most `busyMs`.
 *
 * @module
 */

import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'

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
