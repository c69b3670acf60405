/**
 * Copies the accounts before their schema changes: an older version of oi can open the copy.
 *
 * @module
 */

import { closeSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type Sqlite from 'better-sqlite3'
import { OiError } from '../../errors.js'
import { isPassing, reasonOf } from './store-errors.js'

/**
 * Writes the copy beside the file, whole or not at all, for its owner only.
 *
 * @param version - The current schema version.
 * @returns Its path, such as `accounts-schema-3-2026-01-31T12-00-00-000Z.db`.
 * @throws {@link OiError} `ERR_ACCOUNTS` if it cannot be written.
 */
export function copyBefore(db: Sqlite.Database, path: string, version: number): string {
  const when = new Date().toISOString().replaceAll(/[:.]/g, '-')
  const copy = join(dirname(path), `accounts-schema-${version}-${when}.db`)
  const part = `${copy}.${process.pid}.part`
  try {
    // SQLite cannot set a mode, but fills an existing empty file.
    closeSync(openSync(part, 'wx', 0o600))
    db.prepare('VACUUM INTO ?').run(part)
    renameSync(part, copy)
    return copy
  } catch (cause) {
    rmSync(part, { force: true })
    // A temporary failure: the start waits for it.
    if (isPassing(cause)) throw cause
    const message = `Cannot copy the accounts before their schema changes: ${reasonOf(cause)}`
    throw new OiError('ERR_ACCOUNTS', message, { cause })
  }
}
