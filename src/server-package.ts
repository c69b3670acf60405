/**
 * The packages that only the server needs. An application that embeds models installs
 * `oi-systemone` without them; `@oi-systemone/server` brings them, each in the one version that
 * was tried. They are loaded when they are first used, and whoever lacks one is told the line that
 * installs it.
 *
 * @module
 */

import { createRequire } from 'node:module'
import { OiError } from './errors.js'
import { packageVersion } from './package-root.js'

const require = createRequire(import.meta.url)

/**
 * Loads a package of the server, which is CommonJS.
 *
 * @param use - What it is for, as `the accounts`.
 * @param path - A file of it instead of its main one.
 * @throws {@link OiError} `ERR_PACKAGE_NOT_FOUND` with the line that installs it.
 */
export function serverPackage<T>(name: string, use: string, path = name): T {
  try {
    return require(path) as T
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw cause
    throw new OiError('ERR_PACKAGE_NOT_FOUND', `For ${use}: ${notInstalled(name)}`, { cause })
  }
}

/** @returns That a package of the server is missing, and the line that installs all of them. */
export function notInstalled(name: string): string {
  const install = `npm install @oi-systemone/server@${packageVersion()}`
  return `the package ${name} is not installed; \`${install}\` installs all that the server needs`
}
