/**
 * better-sqlite3, loaded when accounts are first opened.
 *
 * @module
 */

import type Sqlite from 'better-sqlite3'
import { OiError } from '../../errors.js'
import { serverPackage } from '../../server-package.js'

let loaded: typeof Sqlite | undefined

/**
 * @throws {@link OiError} `ERR_PACKAGE_NOT_FOUND` if it is not installed, or has no binary.
 */
export function sqlite(): typeof Sqlite {
  loaded ??= load()
  return loaded
}

/**
 * Whether an error is SQLite's; false while SQLite has not been loaded, as it cannot have thrown
 * it.
 */
export function isSqliteError(error: unknown): error is InstanceType<typeof Sqlite.SqliteError> {
  return loaded !== undefined && error instanceof loaded.SqliteError
}

/**
 * @param version - Of better-sqlite3.
 * @param versions - Of this process.
 * @returns The version to install instead; undefined if this one works.
 *
 * Version 13 needs Node-API 10 and ends a process that has less. Version 12, compiled for Node 24
 * since 24.19, ends the process when one of its objects is collected.
 */
export function betterSqliteFor(
  version: string,
  versions: Readonly<Record<'node' | 'napi', string>>,
): string | undefined {
  const has13 = parseInt(version) >= 13
  if (Number(versions.napi) < 10) return has13 ? '12.11.1' : undefined
  return has13 || parseInt(versions.node) < 24 ? undefined : '13.2.0'
}

const name = 'better-sqlite3'
/** The second exists in a checkout, whose lock file has one version per name. */
const names = [name, `${name}-13`]
const use = 'the accounts'

function load(): typeof Sqlite {
  const { node, napi = '0' } = process.versions
  const fits = (version: string) => betterSqliteFor(version, { node, napi }) === undefined
  const found = names.find((name) => {
    const version = versionOf(name)
    return version !== undefined && fits(version)
  })
  if (found !== undefined) return open(found)

  const { version } = serverPackage<{ version: string }>(name, use, `${name}/package.json`)
  const instead = betterSqliteFor(version, { node, napi })
  throw new OiError(
    'ERR_PACKAGE_NOT_FOUND',
    `${name} ${version} does not work with Node ${node}. Install the one that does:\n\n` +
      `  npm install ${name}@${instead}\n`,
  )
}

/** @returns Undefined if it is not installed. */
function versionOf(name: string): string | undefined {
  try {
    return serverPackage<{ version: string }>(name, use, `${name}/package.json`).version
  } catch {
    return undefined
  }
}

function open(name: string): typeof Sqlite {
  const library = serverPackage<typeof Sqlite>(name, use)
  try {
    new library(':memory:').close()
    return library
  } catch (cause) {
    // Package managers may skip install scripts, with --ignore-scripts or by default.
    throw new OiError(
      'ERR_PACKAGE_NOT_FOUND',
      `The package ${name} has no binary that can be loaded here; that of version 12 is made by its ` +
        `install script:\n\n  npm rebuild ${name}\n\n(${(cause as Error).message.split('\n')[0]})`,
      { cause },
    )
  }
}
