/**
 * better-sqlite3, loaded when accounts are first opened.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { OiError } from '../errors.js'
import { serverPackage } from '../server-package.js'

let loaded: typeof Sqlite | undefined

/**
 * @throws {@link OiError} `ERR_PACKAGE_NOT_FOUND` if it is not installed, or has no binary.
 */
export function sqlite(): typeof Sqlite {
  loaded ??= load()
  return loaded
}

/** An error of its own; false too while it has not been loaded, as nothing can have thrown one. */
export function isSqliteError(error: unknown): error is InstanceType<typeof Sqlite.SqliteError> {
  return loaded !== undefined && error instanceof loaded.SqliteError
}

function load(): typeof Sqlite {
  const library = serverPackage<typeof Sqlite>('better-sqlite3', 'the accounts')
  try {
    new library(':memory:').close()
    return library
  } catch (cause) {
    // Package managers leave out install scripts, with --ignore-scripts or by themselves.
    throw new OiError(
      'ERR_PACKAGE_NOT_FOUND',
      'The package better-sqlite3 has no binary that can be loaded here; its install script makes ' +
        `one:\n\n  npm rebuild better-sqlite3\n\n(${(cause as Error).message.split('\n')[0]})`,
      { cause },
    )
  }
}
