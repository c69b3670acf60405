/**
 * What SQLite's errors mean for the operator and for callers.
 *
 * @module
 */

import { isOverload, OiError } from '../../errors.js'
import { isSqliteError } from './sqlite.js'

/** When a caller may try again, milliseconds. */
const retryAfterMs = 1000

const localDisk =
  'the data folder needs a local disk, as SQLite shares memory and locks through it: ' +
  'network and container file systems often cannot (--data-dir)'

const diskFull = 'the disk is full'

/** By the prefix of SQLite's code; the first match counts. */
const reasons: readonly (readonly [string, string])[] = [
  ['SQLITE_IOERR_SHMSIZE', diskFull],
  ['SQLITE_IOERR_SHM', localDisk],
  ['SQLITE_IOERR_LOCK', localDisk],
  ['SQLITE_IOERR_UNLOCK', localDisk],
  ['SQLITE_IOERR_RDLOCK', localDisk],
  ['SQLITE_PROTOCOL', localDisk],
  ['SQLITE_BUSY', 'another process keeps the file locked'],
  ['SQLITE_FULL', diskFull],
  ['SQLITE_READONLY', 'the file or its folder cannot be written'],
  ['SQLITE_CORRUPT', 'the file is damaged'],
  ['SQLITE_NOTADB', 'the file is no database'],
  ['SQLITE_CANTOPEN', 'the file cannot be opened'],
  ['SQLITE_IOERR', 'the disk fails'],
]

const refusals = [
  ...['SQLITE_CONSTRAINT_DATATYPE', 'SQLITE_CONSTRAINT_NOTNULL', 'SQLITE_CONSTRAINT_CHECK'],
  ...['SQLITE_MISMATCH', 'SQLITE_TOOBIG'],
]

/** Why a call failed, with SQLite's own words. */
export function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const code = codeOf(error)
  const known = reasons.find(([beginning]) => code.startsWith(beginning))
  return known === undefined ? message : `${known[1]} (${message}, ${code})`
}

/** Whether a call failed only because of another writer. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/** Whether the accounts' refusal is only because of another writer. */
export function isBusyError(error: unknown): boolean {
  return isOverload(error) && isBusy(error.cause)
}

/** Whether the file's bytes are wrong. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error))
}

/** Whether the failure is likely to pass: another writer, or a full disk. */
export function isPassing(error: unknown): boolean {
  return isBusy(error) || isFull(error)
}

/** Whether a call failed because of the values written: they would fail each time. */
export function isRefusedValue(error: unknown): boolean {
  // better-sqlite3's own errors for values that SQLite does not have.
  if (error instanceof TypeError || error instanceof RangeError) return true
  return refusals.includes(codeOf(error))
}

function isFull(error: unknown): boolean {
  const noSpace = (error as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC'
  return noSpace || reasonOf(error).startsWith(diskFull)
}

/**
 * @returns The error for callers while the accounts cannot be read or written; it contains no path.
 */
export function unavailable(what: string, cause: unknown): OiError {
  return new OiError('ERR_OVERLOADED', `The accounts cannot be ${what}: ${reasonOf(cause)}`, {
    retryAfterMs,
    cause,
  })
}

function codeOf(error: unknown): string {
  return isSqliteError(error) ? error.code : ''
}
